// Writes the committed files that are made from the built code; `--check` only says which are stale (exit 1).
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLUSTER_SCHEMA } from '../dist/model/cluster-schema.js'
import { HOST_FACTS_SCHEMA } from '../dist/model/host-facts-schema.js'
import { HOST_PROBLEMS } from '../dist/model/host-problem-codes.js'
import { PROBE_RESULT_SCHEMA } from '../dist/model/probe-schema.js'
import { ADVICE_PROBLEMS, INPUT_PROBLEMS, PLACEMENT_PROBLEMS } from '../dist/model/problem-codes.js'

process.chdir(join(import.meta.dirname, '..'))
const check = process.argv.includes('--check')

const GROUPS = [
  ['Inputs', INPUT_PROBLEMS],
  ['Addresses', PLACEMENT_PROBLEMS],
  ['Advice', ADVICE_PROBLEMS],
  ['Hosts', HOST_PROBLEMS],
]

function problems() {
  const links = (kinds) => Object.keys(kinds).map((code) => `[${code}](#${code.toLowerCase()})`)
  const section = ([code, { severity, meaning, remedy }]) => `### ${code}\n\n**${severity}.** ${meaning}\n\nRemedy: ${remedy}\n`
  const group = ([title, kinds]) => `## ${title}\n\n${Object.entries(kinds).map(section).join('\n')}`
  return `# Problems

Written by \`npm run generate\` from \`src/model/problem-codes.ts\`.

A problem has a code, a severity, the object that it is about, a sentence, a remedy, and the place in a file where it stands. With an error the exit code is 3; what is valid is still planned and written. \`spec.policy\` of the \`Cluster\` object sets the severity of a code to \`error\`, \`warning\`, \`info\` or \`off\`: that changes what is reported, never the placement.

\`\`\`yaml
apiVersion: egretta.dev/v1alpha1
kind: Cluster
metadata:
  name: cluster
spec:
  policy: { OverlappingSelection: warning, SelectorMatchesNoPod: off }
\`\`\`

${GROUPS.map(([title, kinds]) => `- ${title}: ${links(kinds).join(', ')}`).join('\n')}

${GROUPS.map(group).join('\n')}`
}

const generated = {
  'docs/problems.md': problems(),
  'schema/cluster.json': `${JSON.stringify(CLUSTER_SCHEMA, null, 2)}\n`,
  'schema/host-facts.json': `${JSON.stringify(HOST_FACTS_SCHEMA, null, 2)}\n`,
  'schema/probe-result.json': `${JSON.stringify(PROBE_RESULT_SCHEMA, null, 2)}\n`,
}
const stale = Object.entries(generated).filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
if (!check) for (const [path, text] of stale) writeFileSync(path, text)
else if (stale.length > 0) {
  console.error(`stale: ${stale.map(([path]) => path).join(', ')}; run npm run generate`)
  process.exitCode = 1
}
