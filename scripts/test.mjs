// Runs every test and ends with the line `N passed, N failed`, counted from vitest's own JSON report.
// Fails on a failed test, on a file that does not load, on no tests at all and, with CI=true, on a test left out.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

process.chdir(join(import.meta.dirname, '..'))
const folder = mkdtempSync(join(tmpdir(), 'egretta-test-'))
const report = join(folder, 'report.json')

const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
)
const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : []
rmSync(folder, { recursive: true })

const tests = results.flatMap((file) => file.assertionResults)
const count = (...states) => tests.filter((test) => states.includes(test.status)).length
const unloaded = results.filter((file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'))
const passed = count('passed')
const leftOut = tests.length - passed - count('failed')
let failed = count('failed') + unloaded.length

if (leftOut > 0) {
  console.log(`${leftOut} left out`)
  if (process.env.CI === 'true') {
    for (const test of tests.filter(({ status }) => status !== 'passed' && status !== 'failed')) console.log(`  left out: ${test.fullName}`)
    failed += leftOut
  }
}
if (failed === 0 && (status !== 0 || passed === 0)) {
  console.log(passed === 0 ? 'no test ran' : 'vitest failed outside of a test; see above')
  failed = 1
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
