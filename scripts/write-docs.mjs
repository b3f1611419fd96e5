// Writes the generated pages of docs/ from the built code; `--check` only says which are stale (exit 1).
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROBLEMS } from '../dist/model/problem.js'

process.chdir(join(import.meta.dirname, '..'))

function problems() {
  const rows = Object.entries(PROBLEMS).map(([code, { severity, remedy }]) => `| \`${code}\` | ${severity} | ${remedy} |`)
  return `# Problems

Written by \`npm run docs\` from \`src/model/problem.ts\`. \`spec.policy\` of the \`Cluster\` object changes a severity (or \`off\`), never the placement.

| code | severity | what to do |
|---|---|---|
${rows.join('\n')}
`
}

const stale = []
for (const [path, text] of Object.entries({ 'docs/problems.md': problems() })) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  stale.push(path)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
}
if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`stale: ${stale.join(', ')}; run npm run docs`)
  process.exitCode = 1
}
