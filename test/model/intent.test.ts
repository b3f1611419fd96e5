import { describe, expect, it } from 'vitest'
import { egressIP, file, found, lock, plain, read } from './texts.js'

const A = '192.0.2.50'
const B = '192.0.2.51'
const V6 = '2001:db8::50'

describe('an EgressIP', () => {
  it('is read with the default of the node selector', () => {
    const { intent } = read([
      file('both', egressIP('eip-a', [A, '2001:DB8:0::50', 'x'], { created: '2026-01-01T00:00:00Z', mark: '50001' })),
    ])
    expect(intent.objects).toMatchObject([
      {
        name: 'eip-a',
        created: Date.UTC(2026, 0, 1),
        addresses: [
          { text: A, address: { text: A }, index: 0 },
          { text: '2001:DB8:0::50', address: { text: V6 }, index: 1 },
          { text: 'x', address: null, index: 2 },
        ],
        namespaceSelector: { matchLabels: { env: 'prod' } },
        podSelector: {},
        egressNodeSelector: { matchExpressions: [{ key: 'k8s.ovn.org/egress-assignable', operator: 'Exists' }] },
        mark: '50001',
      },
    ])
  })

  it('keeps an empty node selector, and takes null for absent', () => {
    const text = `${egressIP('eip-a', [A])}`.replace('spec:\n', 'spec:\n  egressNodeSelector: {}\n  podSelector:\n')
    const [object] = read([file('both', text)]).intent.objects
    expect(object?.egressNodeSelector).toEqual({})
    expect(object?.podSelector).toEqual({})
    const nothing = text.replace('egressNodeSelector: {}', 'egressNodeSelector:')
    expect(read([file('both', nothing)]).intent.objects[0]?.egressNodeSelector.matchExpressions).toHaveLength(1)
  })

  it('of another group is another kind', () => {
    const inputs = read([file('both', egressIP('eip-a', [A]).replace('k8s.ovn.org/v1', 'example.org/v1'))])
    expect(inputs.intent.objects).toEqual([])
    expect([...inputs.topology.ignored]).toEqual([['EgressIP', 1]])
  })

  it('may carry all the metadata and status that a cluster prints', () => {
    const text = egressIP('eip-a', [A], { status: {} }).replace(
      'metadata:\n',
      'metadata:\n  annotations:\n  creationTimestamp: null\n  managedFields: [{manager: x, fieldsV1: {"f:spec": {}}}]\n  uid: x\n',
    )
    expect(found(read([file('both', text)]))).toEqual([])
    expect(found(read([file('both', text.replace('items: []', 'items:'))]))).toEqual([])
  })
})

describe('an EgressIP that is wrong', () => {
  const spec = (lines: string) => `apiVersion: k8s.ovn.org/v1\nkind: EgressIP\nmetadata: {name: eip-a}\nspec:\n${lines}`
  const selector = '  namespaceSelector: {}\n'

  it.each([
    ['no spec', 'x: 1\n', ['InvalidObject eip-a 5:3', 'InvalidObject eip-a 5:3', 'UnknownField eip-a 5:3'], []],
    ['no addresses', selector, ['InvalidObject eip-a 5:3'], []],
    ['addresses that are a text', `  egressIPs: ${A}\n${selector}`, ['InvalidObject eip-a 5:14'], ['192.0.2.50']],
    ['a number for an address', `  egressIPs: [5, ${A}]\n${selector}`, ['InvalidObject eip-a 5:15'], ['192.0.2.50', '5']],
    ['an address in two spellings', `  egressIPs: ["2001:db8:0::50", "${V6}", 5]\n${selector}`, ['InvalidObject eip-a 5:49'], [V6, '5']],
    ['a selector that is a list', `  egressIPs: [${A}]\n  namespaceSelector: []\n`, ['InvalidObject eip-a 6:22'], [A]],
    ['a label that is a number', `  egressIPs: [${A}]\n  namespaceSelector: {matchLabels: {a: 1}}\n`, ['InvalidObject eip-a 6:40'], [A]],
    [
      'an operator that does not exist',
      `  egressIPs: [${A}]\n  namespaceSelector: {matchExpressions: [{key: a, operator: in, values: [b]}]}\n`,
      ['InvalidObject eip-a 6:61'],
      [A],
    ],
  ])('is left out with its addresses: %s', (_, lines, problems, texts) => {
    const inputs = read([file('both', spec(lines.startsWith(' ') ? lines : `  ${lines}`))])
    expect(found(inputs)).toEqual(problems)
    expect(inputs.intent.objects).toEqual([])
    expect(inputs.intent.invalid).toMatchObject([{ name: 'eip-a', texts }])
  })

  it('is told to quote an address that YAML takes for a key', () => {
    for (const text of ['fd00::', '::', '2001:db8::']) {
      const inputs = read([file('both', spec(`  egressIPs:\n  - ${text}\n${selector}`))])
      expect(found(inputs)).toEqual(['InvalidObject eip-a 6:5'])
      expect(inputs.problems[0]?.remedy).toContain(`"${text}" in quotes`)
      expect(inputs.intent.invalid).toMatchObject([{ texts: [text] }])
    }
  })

  it('keeps what it has when a field is merely unknown', () => {
    const inputs = read([file('both', spec(`  egressIPs: [${A}]\n  namespaceSelecter: {}\n${selector}  podSelecter: {}\n  x: 1\n`))])
    expect(found(inputs)).toEqual(['UnknownField eip-a 6:3', 'UnknownField eip-a 8:3', 'UnknownField eip-a 9:3'])
    expect(inputs.problems.map(({ message }) => message)).toEqual([
      'EgressIP eip-a: spec.namespaceSelecter is not a known field.',
      'EgressIP eip-a: spec.podSelecter is not a known field (did you mean podSelector?).',
      'EgressIP eip-a: spec.x is not a known field.',
    ])
    expect(inputs.intent.objects).toHaveLength(1)
  })

  it.each([
    ['namespaceSelector: {matchLabel: {a: b}}', '6:23', 'namespaceSelector.matchLabel', 'matchLabels'],
    ['namespaceSelector: {matchlabels: {a: b}}', '6:23', 'namespaceSelector.matchlabels', 'matchLabels'],
    ['namespaceSelector: {labels: {a: b}, matchExpressions: []}', '6:23', 'namespaceSelector.labels', 'matchLabels'],
    ['namespaceSelector: {matchExpression: []}', '6:23', 'namespaceSelector.matchExpression', 'matchExpressions'],
    [
      'namespaceSelector: {matchExpressions: [{key: a, operator: In, value: [b]}]}',
      '6:65',
      'namespaceSelector.matchExpressions[0].value',
      'values',
    ],
    ['namespaceSelector: {}\n  podSelector: {matchLabel: {}}', '7:17', 'podSelector.matchLabel', 'matchLabels'],
    ['namespaceSelector: {}\n  egressNodeSelector: {matchLabel: {}}', '7:24', 'egressNodeSelector.matchLabel', 'matchLabels'],
  ])('is wrong where a selector has a field that would be dropped: %s', (lines, at, path, meant) => {
    const inputs = read([file('both', spec(`  egressIPs: [${A}]\n  ${lines}\n`))])
    expect(found(inputs)).toEqual([`InvalidObject eip-a ${at}`])
    expect(inputs.problems[0]?.message).toBe(`EgressIP eip-a: spec.${path} is not a known field (did you mean ${meant}?).`)
    expect(inputs.intent).toMatchObject({ objects: [], invalid: [{ name: 'eip-a', texts: [A] }] })
  })

  it.each(['Eip', 'a_b', '-a', 'a/../b', 'a'.repeat(254), '..'])('cannot be named %s', (name) => {
    const inputs = read([file('both', egressIP(name, [A]))])
    expect(found(inputs)).toEqual([`InvalidObject ${name} 4:9`])
    expect(inputs.intent.invalid).toMatchObject([{ name, texts: [A] }])
  })

  it('is told of a spec that is missing, and of a misspelt one', () => {
    const inputs = read([file('both', egressIP('eip-a', [A]).replace('spec:', 'specs:'))])
    expect(found(inputs)).toEqual(['InvalidObject eip-a 1:1', 'UnknownField eip-a 5:1'])
    expect(inputs.problems[0]?.message).toBe('EgressIP eip-a: spec is required and absent.')
    expect(found(read([file('both', `${egressIP('eip-a', [A]).split('spec:')[0]}spec: []\n`)]))).toEqual(['InvalidObject eip-a 5:7'])
  })

  it.each([
    ['kind: EgressIP', 'kind: EgressIp', '2:7'],
    ['apiVersion: k8s.ovn.org/v1', 'apiVersion: k8s.ovn.io/v1', '1:13'],
    ['apiVersion: k8s.ovn.org/v1', 'apiVersion: k8s.ovn.org/v1beta1', '1:13'],
  ])('of the intent is not taken for removed because of a slip: %s as %s', (right, wrong, at) => {
    const there = egressIP('eip-a', [A])
    const files = [file('intent', there.replace(right, wrong)), file('topology', there)]
    const inputs = read(files, lock({ 'eip-a': { addresses: { [A]: { node: 'n', seen: null } } } }))
    expect(found(inputs)).toEqual([`InvalidObject eip-a ${at}`])
    expect(inputs.intent).toMatchObject({ objects: [], gone: [], foreign: [], removed: [], invalid: [{ name: 'eip-a', texts: [A] }] })
    expect(found(read([file('topology', there.replace(right, wrong))]))).toEqual([])
  })

  it('of a file of both roles is told of a kind in wrong letters: no cluster prints such a thing', () => {
    const inputs = read([file('both', egressIP('eip-a', [A, B]).replace('kind: EgressIP', 'kind: EgressIp'))])
    expect(inputs.problems).toMatchObject([
      {
        object: 'eip-a',
        message: 'EgressIP eip-a: kind must be EgressIP; it is the text "EgressIp".',
        remedy: 'Write kind: EgressIP; the object is left out until then.',
        source: { line: 2, column: 7 },
      },
    ])
    expect(inputs.intent.invalid).toMatchObject([{ name: 'eip-a', texts: [A, B], reported: true }])
  })

  it('is warned of where it asks for no address: the API server takes it', () => {
    const inputs = read([file('both', spec(`  egressIPs: []\n${selector}`))])
    expect(found(inputs)).toEqual(['NoEgressIP eip-a 5:14'])
    expect(inputs.problems).toMatchObject([
      { severity: 'warning', message: 'EgressIP eip-a: spec.egressIPs is empty, so it asks for no address.' },
    ])
    expect(inputs.intent.objects).toMatchObject([{ addresses: [] }])
  })

  it('needs a name that is a text', () => {
    expect(found(read([file('both', egressIP('5', [A]))]))).toEqual(['InvalidObject null 4:9'])
    expect(found(read([file('both', egressIP('', [A]))]))).toEqual(['InvalidObject null 4:3'])
  })
})

describe('the same EgressIP twice', () => {
  it('counts once when the two are equal', () => {
    const reordered = egressIP('eip-a', [A]).replace(
      'apiVersion: k8s.ovn.org/v1\nkind: EgressIP\n',
      'kind: EgressIP\napiVersion: k8s.ovn.org/v1\n',
    )
    const inputs = read([file('intent', egressIP('eip-a', [A]), reordered)])
    expect(inputs.intent.objects).toHaveLength(1)
    expect(found(inputs)).toEqual([])
  })

  it('is invalid, each of them, when they differ', () => {
    const inputs = read([file('intent', egressIP('eip-a', [A]), egressIP('eip-a', [B, A]), egressIP('eip-b', [V6]))])
    expect(inputs.intent.objects.map(({ name }) => name)).toEqual(['eip-b'])
    expect(inputs.intent.invalid).toMatchObject([{ name: 'eip-a', texts: [A, B] }])
    expect(found(inputs)).toEqual(['DuplicateObject eip-a 1:1', 'DuplicateObject eip-a 9:1'])
  })

  it('has no namespace that could make it another', () => {
    const inputs = read([file('both', egressIP('eip-a', [A]), egressIP('eip-a', [B]).replace('metadata:', 'metadata:\n  namespace: x'))])
    expect(inputs.intent.invalid).toMatchObject([{ name: 'eip-a', texts: [A, B] }])
  })

  it('in both roles takes the spec from the intent and the rest from the topology', () => {
    const there = egressIP('eip-a', [A], { status: { [A]: 'node-a' }, mark: '50007', created: '2026-01-01T00:00:00Z' })
    for (const role of ['topology', 'both'] as const) {
      const [object] = read([file('intent', egressIP('eip-a', [B])), file(role, there)]).intent.objects
      expect(object?.addresses.map(({ text }) => text)).toEqual([B])
      expect(object).toMatchObject({
        mark: '50007',
        created: Date.UTC(2026, 0, 1),
        status: new Map([[A, 'node-a']]),
        source: { role: 'intent' },
      })
    }
  })
})

describe('state in an intent file', () => {
  it('is warned of and ignored', () => {
    const inputs = read([
      file('intent', egressIP('eip-a', [A], { status: { [A]: 'node-a' }, mark: '50007', created: '2026-01-01T00:00:00Z' })),
    ])
    expect(found(inputs)).toEqual(['MarkInIntent eip-a 6:17', 'StatusInIntent eip-a 10:1'])
    expect(inputs.intent.objects).toMatchObject([{ status: new Map(), mark: null, created: null }])
    expect(plain(inputs.current)).toEqual({})
  })

  it('is fine where the file is a dump of a cluster', () => {
    expect(found(read([file('both', egressIP('eip-a', [A], { status: { [A]: 'node-a' }, mark: '50007' }))]))).toEqual([])
  })
})

describe('a live status', () => {
  it('is read in any spelling, its first item for an address first', () => {
    const text = egressIP('eip-a', [V6], { status: { '2001:DB8:0:0::50': 'node-a', [V6]: 'node-b' } })
    expect(plain(read([file('both', text)]).current)).toEqual({ 'eip-a': { [V6]: 'node-a' } })
  })

  it('that is malformed is warned of, and what is sound of it counts', () => {
    const sound = egressIP('eip-a', [A], { status: { [A]: 'node-a' } })
    const bad = read([file('both', sound.replace('  items:', '  items:\n  - {egressIP: x, node: n}\n  - {egressIP: 192.0.2.9}\n  - 5'))])
    expect(found(bad)).toEqual(['InvalidObject eip-a 10:16'])
    expect(bad.problems[0]?.severity).toBe('warning')
    expect(plain(bad.current)).toEqual({ 'eip-a': { [A]: 'node-a' } })
    expect(found(read([file('both', egressIP('eip-a', [A], { status: {} }).replace('items: []', 'items: {}'))]))).toEqual([
      'InvalidObject eip-a 9:10',
    ])
    expect(found(read([file('both', egressIP('eip-a', [A], { created: 'yesterday' }))]))).toEqual(['InvalidObject eip-a 5:22'])
  })
})

describe('an EgressIP that only the topology has', () => {
  const there = file('topology', egressIP('eip-x', [A], { status: { [A]: 'node-a' } }))

  it('is foreign and keeps its addresses', () => {
    const inputs = read([there, file('intent', egressIP('eip-a', [B]))])
    expect(inputs.intent.foreign).toMatchObject([{ name: 'eip-x', status: new Map([[A, 'node-a']]) }])
    expect(inputs.intent.objects.map(({ name }) => name)).toEqual(['eip-a'])
    expect(inputs.intent.removed).toEqual([])
    expect(plain(inputs.current)).toEqual({ 'eip-x': { [A]: 'node-a' } })
  })

  it('is a removal when the lock has it', () => {
    const inputs = read([there], lock({ 'eip-x': { addresses: { [A]: { node: 'node-b', seen: null } } } }))
    expect(inputs.intent.foreign).toEqual([])
    expect(inputs.intent.removed).toEqual([{ object: 'eip-x', egressIP: A, node: 'node-a' }])
  })

  it('is no duplicate of itself in two topology files that are equal', () => {
    expect(found(read([there, { ...there, file: 'again.yaml' }]))).toEqual([])
  })
})
