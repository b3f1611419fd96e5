import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/model/bundle.js'
import { readInputs } from '../../src/model/inputs.js'
import { problem } from '../../src/model/problem.js'
import { parseSource, type Role, type SourceFile } from '../../src/model/source.js'
import { egressIP, file, found, gateway, lock, node, read } from './texts.js'

const A = '192.0.2.50'

/** One sound document of every kind that is read. */
const EVERY_KIND = [
  node('node-a', {
    'k8s.ovn.org/l3-gateway-config': gateway('node-a', { mode: 'local' }),
    'k8s.ovn.org/node-masquerade-subnet': '{"ipv4":"169.254.0.0/17"}',
    'cloud.network.openshift.io/egress-ipconfig': '[{"interface":"a","ifaddr":{"ipv4":"192.0.2.0/24"},"capacity":{"ip":1}}]',
  }),
  egressIP('eip-a', [A, '2001:db8::50'], { status: { [A]: 'node-a' }, mark: '50000', created: '2026-01-01T00:00:00Z' }),
  'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {env: prod}}\n',
  'apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop, annotations: {k8s.ovn.org/pod-networks: \'{"a/b":{"role":"primary","ip_addresses":["10.0.0.1/8"]}}\'}}\nspec: {nodeName: node-a}\nstatus: {phase: Running, podIPs: [{ip: 10.0.0.1}]}\n',
  'apiVersion: k8s.ovn.org/v1\nkind: UserDefinedNetwork\nmetadata: {name: net, namespace: blue}\nspec: {topology: Layer3, layer3: {role: Primary}}\n',
  'apiVersion: k8s.ovn.org/v1\nkind: ClusterUserDefinedNetwork\nmetadata: {name: red}\nspec: {namespaceSelector: {matchLabels: {a: b}}, network: {topology: Layer3, layer3: {role: Primary, subnets: [{cidr: 10.20.0.0/16}]}, transport: NoOverlay}}\n',
  'apiVersion: k8s.ovn.org/v1\nkind: RouteAdvertisements\nmetadata: {name: ra}\nspec: {advertisements: [PodNetwork], networkSelectors: [{networkSelectionType: DefaultNetwork}, {networkSelectionType: ClusterUserDefinedNetworks, clusterUserDefinedNetworkSelector: {networkSelector: {matchLabels: {a: b}}}}]}\nstatus: {conditions: [{type: Accepted, status: "True"}]}\n',
  'apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: net, namespace: blue, annotations: {k8s.ovn.org/network-id: "1"}}\nspec: {config: \'{"name":"blue_net"}\'}\n',
  'apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {clusterNetwork: [{cidr: 10.128.0.0/14}], serviceNetwork: [172.30.0.0/16], defaultNetwork: {type: OVNKubernetes, ovnKubernetesConfig: {mtu: 1400, genevePort: 6081, gatewayConfig: {routingViaHost: true, ipv4: {internalMasqueradeSubnet: 169.254.0.0/17}}}}}\n',
  'apiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata: {name: cluster}\nstatus: {platformStatus: {type: AWS}}\n',
  'apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\nstatus: {desired: {version: 4.14.3}}\n',
  'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: userdefinednetworks.k8s.ovn.org}\n',
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ovn-config, namespace: ovn-kubernetes}\ndata: {net_cidr: 10.244.0.0/16/24, svc_cidr: 10.96.0.0/16, mtu: "1400"}\n',
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gateway-mode-config, namespace: openshift-network-operator}\ndata: {mode: local}\n',
  'apiVersion: egretta.dev/v1alpha1\nkind: Cluster\nmetadata: {name: c}\nspec: {placement: enforced, subnets: {join: [100.64.0.0/16]}, nodes: {node-a: {bridge: br-ex}}, unreachable: [node-a], policy: {EmptyInput: off}}\n',
  'apiVersion: v1\nkind: Service\nmetadata: {name: s}\n',
]
const roles = fc.constantFrom<Role>('intent', 'topology', 'both')

describe('inputs', () => {
  it('of every kind are read without a problem, and of other kinds are counted', () => {
    const inputs = read([file('both', ...EVERY_KIND)])
    expect(inputs.problems).toEqual([])
    expect([...inputs.topology.ignored]).toEqual([['Service', 1]])
    expect(inputs.unreadable).toBe(false)
  })

  it('are the same for any order of files and documents, whether in a list or not', () => {
    const documents = [...EVERY_KIND, egressIP('eip-b', ['x']), node('node-b', { 'k8s.ovn.org/host-cidrs': 'x' }), egressIP('eip-a', [A])]
    const digest = read([file('both', ...documents)]).digest
    const items = documents.flatMap((text) => parseSource({ file: 'a.yaml', text, role: 'both' }).objects.map(({ value }) => value))
    expect(read([{ file: 'list.json', text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), role: 'both' }]).digest).toBe(digest)
    fc.assert(
      fc.property(fc.shuffledSubarray(documents, { minLength: documents.length }), fc.nat(documents.length), (shuffled, at) => {
        const {
          digest: again,
          intent,
          topology,
          current,
        } = read([file('both', ...shuffled.slice(0, at)), file('both', ...shuffled.slice(at))])
        expect(again).toBe(digest)
        expect(intent.objects.map(({ name }) => name)).toEqual(['eip-b'])
        expect(intent.invalid).toMatchObject([{ name: 'eip-a', texts: ['192.0.2.50', '2001:db8::50'] }])
        expect(topology.nodes.map(({ name }) => name)).toEqual(['node-a', 'node-b'])
        expect([...current]).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  it('have another digest for another field, role, or lock', () => {
    const digests = [
      read([file('both', egressIP('eip-a', [A]))]),
      read([file('intent', egressIP('eip-a', [A]))]),
      read([file('both', egressIP('eip-a', ['192.0.2.51']))]),
      read([file('both', egressIP('eip-a', [A]))], lock({ 'eip-a': { addresses: {} } })),
    ].map(({ digest }) => digest)
    expect(new Set(digests).size).toBe(4)
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/)
  })

  it('take an object of the intent for one of the topology where the topology has none', () => {
    const namespace = (labels: string) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {${labels}}}\n`
    expect(read([file('intent', namespace('env: prod'))]).topology.namespaces).toMatchObject([{ labels: { env: 'prod' } }])
    const both = read([file('intent', namespace('env: new')), file('topology', namespace('env: old'))])
    expect(both.topology.namespaces).toMatchObject([{ labels: { env: 'old' } }])
    expect(found(both)).toEqual([])
  })

  it('leave out what stands twice, differently', () => {
    const inputs = read([file('topology', node('node-a'), node('node-a', {}, 'False'), node('node-b'))])
    expect(inputs.topology.nodes.map(({ name }) => name)).toEqual(['node-b'])
    expect(inputs.problems.map(({ code, object }) => `${code} ${object}`)).toEqual([
      'DuplicateObject Node/node-a',
      'DuplicateObject Node/node-a',
    ])
  })

  it('are unreadable when a file was, or one does not parse', () => {
    expect(read([file('both', 'a: [')]).unreadable).toBe(true)
    expect(readInputs([], null, [problem('UnreadableInput', { message: 'gone' })])).toMatchObject({
      unreadable: true,
      problems: [{ message: 'gone' }],
    })
    expect(readInputs([], null, [problem('EmptyInput', { message: 'empty' })]).unreadable).toBe(false)
  })

  it('never make it fail, whatever stands in any field, and the others are read', () => {
    const values = EVERY_KIND.slice(0, -1).flatMap((text) =>
      parseSource({ file: 'a.yaml', text, role: 'both' }).objects.map(({ value }) => value),
    )
    const junk = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>('[]', '{}', 'null', '[null]', '{"default":null}', '[[]]', {}, [], [null], [{}], ''),
    )
    const other = parseSource({ file: 'b.yaml', text: node('node-z'), role: 'both' }).objects[0]?.value
    fc.assert(
      fc.property(
        fc.constantFrom(...values),
        fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
        junk,
        roles,
        (value, way, replacement, role) => {
          const text = canonicalJson({ apiVersion: 'v1', kind: 'List', items: [other, replaced(value, way, replacement)] })
          const inputs = readInputs([{ file: 'a.json', text, role } satisfies SourceFile], null)
          expect(inputs.topology.nodes.map(({ name }) => name)).toContain('node-z')
          for (const { source } of inputs.problems) expect(source).toMatchObject({ file: 'a.json', line: 1, column: expect.any(Number) })
        },
      ),
      { numRuns: 2000 },
    )
  })
})

/** The value with another one at the place where a walk through its keys ends. */
function replaced(value: unknown, [step, ...way]: readonly number[], replacement: unknown): unknown {
  if (step === undefined || value === null || typeof value !== 'object') return replacement
  const keys = Object.keys(value)
  const key = keys[step % Math.max(keys.length, 1)]
  if (key === undefined) return replacement
  const inner = replaced((value as Record<string, unknown>)[key], way, replacement)
  return Array.isArray(value) ? value.map((item, at) => (String(at) === key ? inner : item)) : { ...value, [key]: inner }
}
