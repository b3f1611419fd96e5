// Writes the committed files that are made from the built code; `--check` only says which are stale (exit 1).
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLUSTER_SCHEMA } from '../dist/model/cluster-schema.js'
import { PROBLEMS } from '../dist/model/problem.js'

process.chdir(join(import.meta.dirname, '..'))
const check = process.argv.includes('--check')

function problems() {
  const rows = Object.entries(PROBLEMS).map(([code, { severity, remedy }]) => `| \`${code}\` | ${severity} | ${remedy} |`)
  return `# Problems

Written by \`npm run generate\` from \`src/model/problem.ts\`. \`spec.policy\` of the \`Cluster\` object changes a severity (or \`off\`), never the placement.

| code | severity | what to do |
|---|---|---|
${rows.join('\n')}
`
}

const generated = {
  'docs/problems.md': problems(),
  'schema/cluster.json': `${JSON.stringify(CLUSTER_SCHEMA, null, 2)}\n`,
}
const stale = Object.entries(generated).filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
if (!check) for (const [path, text] of stale) writeFileSync(path, text)
else if (stale.length > 0) {
  console.error(`stale: ${stale.map(([path]) => path).join(', ')}; run npm run generate`)
  process.exitCode = 1
}
