import { describe, expect, it } from 'vitest'
import type { Assignment } from '../../src/model/assignment.js'
import { problem } from '../../src/model/problem.js'
import { viewMarkdown } from '../../src/plan/markdown.js'
import { CHANGING, inputs, kept, LOSSES, notes, other, planOf, refusal, refused } from './plans.js'

describe('viewMarkdown', () => {
  it('has the headline, changes, refusals with reasons and remedies, problems, and a folded part for each node', () => {
    expect(viewMarkdown(CHANGING, { inputs, objects: [{ object: 'eip-a', lines: ['+  "192.0.2.51"'] }] })).toBe(
      `### Plan: 1 to add, 1 to move, 1 to remove, 1 kept, 1 refused

1 object changes, 2 hosts change, 1 pod changes its source address. **1 error, 1 warning.**

- Plan for 2 EgressIPs with 4 addresses on 3 nodes
- placement: enforced, because Cluster.spec.placement says so; egretta decides which node has an address

#### Changes

|  | address | EgressIP | node | network | pods |
| --- | --- | --- | --- | --- | --- |
| \`+\` | \`192.0.2.51\` | \`eip-a\` | \`node-a\` | primary network 192.0.2.0/24 |  |
| \`~\` | \`2001:db8::51\` | \`eip-a\` | \`node-b\` → \`node-c\` | primary network 2001:db8::/64, predicted | 3 pods use it: their established connections break; node-c does not have the network shop&#95;blue yet, as far as the topology shows: traffic of its pods may wait until it is rendered there |
| \`-\` | \`192.0.2.60\` | \`eip-old\` | from \`node-b\` |  |  |

#### Refused

| address | EgressIP | reason | why | what to do |
| --- | --- | --- | --- | --- |
| \`192.0.2.12\` | \`eip-b\` | NoAvailableNode | None of the two matching nodes can take 192.0.2.12. Nodes: node-b NotReady, node-c Unreachable. It leaves \`node-b\`. (\`intent/b.yaml:6:7\`) | ${refused.remedy} |

#### Problems

- **warning** InvalidNode \`Node/node-d\`: node-d has an annotation that is no JSON. ${other.remedy}

#### Objects

EgressIP \`eip-a\`

\`\`\`diff
+  "192.0.2.51"
\`\`\`

#### Hosts

<details><summary><code>node&#45;a</code>: addresses +1, openflow +2 ~1 -3</summary>

- arrive: \`192.0.2.51\` of \`eip-a\`

|  | add | update | delete |
| --- | --- | --- | --- |
| addresses | 1 | 0 | 0 |
| openflow | 2 | 1 | 3 |

</details>

<details><summary><code>node&#45;bb</code>: addresses -1</summary>

|  | add | update | delete |
| --- | --- | --- | --- |
| addresses | 0 | 0 | 1 |

</details>
`,
    )
  })
  it('says plainly that nothing changes', () => {
    const text = viewMarkdown(planOf({ unassigned: [{ ...refusal, from: null }], problems: [refused] }), notes)
    expect(text).toMatch(/^### No changes: 1 address stays where it is, 1 refused\n/)
  })
  it('says what the loss of one node would mean, where that was asked', () => {
    expect(viewMarkdown(planOf({ nMinusOne: LOSSES }), notes)).toContain(`#### Without one node

2 of 3 egress nodes cannot be lost: not all addresses would find another. 1 more node would do: one like node-a (for node-a); for node-b one node does not do.

- \`node-a\`: 2 of its 3 addresses would find no other node: \`192.0.2.50\` of \`eip-a\` (CapacityExhausted) and \`192.0.2.51\` of \`eip-b\` (CapacityExhausted); capacity for 2 addresses more on its other candidates would do

- \`node-b\`: its address would find no other node: \`192.0.2.52\` of \`eip-b\` (AntiColocation)
`)
  })

  it('lets no name form markup, HTML or a mention', () => {
    const evil = '</summary><img src=x>|`*@org/team* ![](https://x.example)\n# title\n```\n'
    const found = problem('InvalidAddress', { object: evil, message: evil, remedy: evil, source: { file: evil, line: 1, column: 1 } })
    const bad: Assignment = { ...kept, egressIP: evil, object: evil, node: evil, from: evil, change: 'move' }
    const text = viewMarkdown(
      planOf({
        assignments: [bad, { ...bad, change: 'remove', node: null }],
        unassigned: [{ ...refusal, egressIP: evil, object: evil, message: evil, from: evil, nodes: [{ node: evil, reason: 'NotReady' }] }],
        disruptions: [{ egressIP: evil, object: evil, node: evil, from: evil, pods: 1, networks: [evil] }],
        nodes: [{ node: evil, changes: { addresses: { add: 1, update: 0, delete: 0 } } }],
        problems: [found],
        previous: { name: evil, inputDigest: '0'.repeat(64) },
      }),
      { inputs, objects: [{ object: evil, lines: [`+ ${evil}`] }] },
    )
    const [before = '', block = '', after = ''] = text.split(/^````diff\n(.*)\n````$/ms)
    expect(block).toBe('+ </summary><img src=x>|`*@org/team* ![](https://x.example)\\u000a# title\\u000a```\\u000a')
    const bare = (before + after)
      .replace(/<code>[@#]<\/code>/g, '')
      .replace(/<\/?(?:code|details|summary)>/g, '')
      .replace(/&#\d+;/g, '')
    expect(bare).not.toMatch(/<|@org|\]\(|https:\/\/|<img/)
    expect((before + after).match(/<summary>/g)).toHaveLength(1)
    expect((before + after).replace(/<code>@<\/code>/g, '')).not.toContain('@')
    const rows = text.split('\n').filter((line) => line.startsWith('| '))
    expect(new Set(rows.map((line) => line.split('|').length))).toEqual(new Set([6, 7, 8]))
  })

  it('stays below the limit of a comment and says what it left out', () => {
    const many = Array.from(
      { length: 5000 },
      (_, i): Assignment => ({ ...kept, egressIP: `198.18.${i >> 8}.${i & 255}`, change: 'add', node: `node-${i}` }),
    )
    const nodes = many.map(({ node }) => ({ node: node ?? '', changes: { addresses: { add: 1, update: 0, delete: 0 } } }))
    const unassigned = many.map(({ egressIP }) => ({ ...refusal, egressIP, message: `${egressIP} `.repeat(2000) }))
    const text = viewMarkdown(planOf({ assignments: many, unassigned, nodes, problems: [other] }), notes)
    expect(text.length).toBeLessThanOrEqual(65_536)
    expect(text.length).toBeGreaterThan(60_000)
    expect(text.match(/^… and \d+ more: `egretta plan` prints everything\.$/gm)).toHaveLength(3)
    expect(text).toContain('Node/node-d')
    expect(text.split('<details>').length).toBe(text.split('</details>').length)
  })
})
