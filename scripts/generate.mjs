// Writes the committed files that are made from the built code; `--check` only says which are stale (exit 1).
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLUSTER_SCHEMA } from '../dist/model/cluster-schema.js'
import { HOST_FACTS_SCHEMA } from '../dist/model/host-facts-schema.js'
import { HOST_PROBLEMS } from '../dist/model/host-problem-codes.js'
import { PROBE_RESULT_SCHEMA } from '../dist/model/probe-schema.js'
import { ADVICE_PROBLEMS, INPUT_PROBLEMS, PLACEMENT_PROBLEMS } from '../dist/model/problem-codes.js'
import { PIPELINE, TABLES } from '../dist/render/pipeline.js'
import { CONDITIONS, DIMENSIONS, PLACEHOLDERS } from '../dist/render/pipeline-row.js'

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

function pipeline() {
  // A bar would end the cell.
  const cell = (text) => text.replaceAll('|', '\\|')
  const code = (text) => (text === '' ? '' : `\`${text.replace(/,$/, '')}\``)
  const when = ({ over = [], when: conditions = [] }) =>
    [
      conditions.map((name) => CONDITIONS[name].says).join(', '),
      over.length > 0 ? `each ${over.map((name) => DIMENSIONS[name]).join(' × ')}` : '',
    ]
      .filter((part) => part !== '')
      .join('; ')
  const line = (row) =>
    `| ${[row.priority, `**${row.id}**: ${row.why}.`, code(row.match), code(row.actions), when(row)].map((text) => cell(String(text))).join(' | ')} |`
  const table = ([number, purpose]) => `## Table ${number}

${purpose}

| Priority | Row | Match | Actions | When |
|---|---|---|---|---|
${PIPELINE.filter((row) => row.table === Number(number))
  .map(line)
  .join('\n')}
`
  return `# The flow table of the external bridge

Written by \`npm run generate\` from \`src/render/pipeline.ts\`.

These are all flows that egretta renders for the bridge of a node (\`openflow.<bridge>.flows\`), but for the guard of start-up and shutdown, which has a file of its own (\`guard.openflow.<bridge>.flows\`). The table agrees with that of OVN-Kubernetes of August 2026; [deviations](#deviations) are named. A packet enters table 0, and the row with the highest priority that matches decides. Above each rendered flow stands the object that it comes from, and the sentence of its row.

\`cookie\` is 0xe6e70000 for every flow, 0xe6e70304 for drop-path-mtu; with \`ovs-ofctl dump-flows BRIDGE cookie=0xe6e70000/0xffff0000\` a host shows them. Ports are named by what they lead to; only the host knows their numbers. Patch ports of user-defined networks carry the port flag *no-flood* (\`openflow.<bridge>.ports.json\`): NORMAL and FLOOD leave them out. With a gateway VLAN the uplink carries tagged frames, and so do the patch ports; the host's port does not.

${Object.entries(TABLES).map(table).join('\n')}
## Deviations

- **question-to-all**, **announcement**: OVN-Kubernetes also names the patch port of the default network, which is part of NORMAL anyway where a frame goes to all; there its gateway router hears, and answers, everything twice.
- **question-to-node**: OVN-Kubernetes has it for any destination; a frame for all is the row before, one for another station is none for the node, and a neighbor solicitation for the MAC of the bridge meets the row **ingress** first.
- **geneve-to-host**, **geneve-from-host**, **bfd-to-node**, **too-large**, **ingress-to-pods-through-host**, **egress-as-pod-through-host**, **router-advertisement-tagged**, **neighbor-advertisement-tagged**: with a gateway VLAN OVN-Kubernetes leaves the tag as it is, and the host does not see the frame, or the wire gets it untagged.
- **drop-path-mtu**: one flow per prefix, where the addresses of nodes fill one.

## Placeholders

| | |
|---|---|
${Object.entries(PLACEHOLDERS)
  .map(([name, means]) => `| \`{${name}}\` | ${cell(means)} |`)
  .join('\n')}
`
}

const generated = {
  'docs/pipeline.md': pipeline(),
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
