import { describe, expect, it } from 'vitest'
import { outcomeOf } from '../../src/constructs/outcome.js'
import type { PlacementOptions } from '../../src/model/assignment.js'
import type { Problem, ProblemCode } from '../../src/model/problem.js'
import { ADVICE_PROBLEMS, INPUT_PROBLEMS, PLACEMENT_PROBLEMS, PROBLEMS } from '../../src/model/problem-codes.js'
import type { SourceFile } from '../../src/model/source.js'
import { NO_OPTIONS } from '../../src/place/place.js'

const node = (name: string, host: number, { extra = '', labels = '', address = `192.0.2.${host}/24` } = {}) => `---
apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels: {k8s.ovn.org/egress-assignable: ""${labels}}
  annotations:
    k8s.ovn.org/node-primary-ifaddr: '{"ipv4":"${address}"}'
    k8s.ovn.org/host-cidrs: '["${address}","198.51.100.${host}/24"]'
    k8s.ovn.org/l3-gateway-config: '{"default":{"mode":"shared","bridge-id":"br-ex","mac-address":"02:00:5e:00:53:${host}","ip-addresses":["${address}"],"next-hops":["192.0.2.1"]}}'
    k8s.ovn.org/node-masquerade-subnet: '{"ipv4":"169.254.169.0/28"}'
${extra}status:
  addresses: [{type: InternalIP, address: ${address.split('/')[0]}}]
  conditions: [{type: Ready, status: "True"}]
`
const cloud = (capacity: string) =>
  `    cloud.network.openshift.io/egress-ipconfig: '[{"interface":"nic0","ifaddr":{"ipv4":"192.0.2.0/24"},"capacity":${capacity}}]'\n`
const platform = (type: string) =>
  `---\napiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata: {name: cluster}\nstatus: {platformStatus: {type: ${type}}}\n`
const namespace = (name: string, labels = '') =>
  `---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {team: ${name}${labels}}}\n`
const pod = (namespace: string, ips: readonly string[]) =>
  `---\napiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: ${namespace}}\nspec: {nodeName: node-a}\nstatus: {phase: Running, podIPs: [${ips.map((ip) => `{ip: "${ip}"}`).join(', ')}]}\n`
const eip = (name: string, ips: readonly string[], more = '', status = '', mark = '') => `---
apiVersion: k8s.ovn.org/v1
kind: EgressIP
metadata: {name: ${name}${mark && `, annotations: {k8s.ovn.org/egressip-mark: "${mark}"}`}}
spec: {egressIPs: [${ips.map((ip) => `"${ip}"`).join(', ')}], namespaceSelector: {matchLabels: {team: shop}}${more}}
${status}`
const held = (ip: string, on: string) => `status: {items: [{egressIP: "${ip}", node: ${on}}]}\n`
const network = (id: string) => `---
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: blue, namespace: shop}
spec: {topology: Layer3, layer3: {role: Primary}}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: blue, namespace: shop${id}}
spec: {config: '{"name":"shop_blue"}'}
`
const CRD =
  '---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: egressips.k8s.ovn.org}\nspec: {versions: [{name: v1, served: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {}}}}}}]}\n'

const operator = (gatewayConfig: string) =>
  `---\napiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {defaultNetwork: {ovnKubernetesConfig: {gatewayConfig: {${gatewayConfig}}}}}\n`
const LOCAL_MODE =
  '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: openshift-network-operator, name: gateway-mode-config}\ndata: {mode: local}\n'

const NODES = node('node-a', 11) + node('node-b', 12)
const SHOP = namespace('shop') + pod('shop', ['10.128.0.5'])
const GOOD = NODES + SHOP
const BLUE = ', k8s.ovn.org/primary-user-defined-network: ""'
const one = eip('eip', ['192.0.2.50'])
const two = eip('eip', ['192.0.2.50'], '', held('192.0.2.50', 'node-a'))
const custom = ', egressNodeSelector: {matchLabels: {pool: x}}'
const pool = { labels: ', pool: x' }

interface Cause {
  readonly topology: string
  readonly intent: string
  readonly options?: Partial<PlacementOptions>
}

/** The shortest inputs that have a problem of the code. */
const CAUSES: Readonly<Partial<Record<ProblemCode, Cause>>> = {
  UnreadableInput: { topology: `${GOOD}---\na: [\n`, intent: one },
  EmptyInput: { topology: GOOD, intent: '' },
  InvalidObject: { topology: GOOD, intent: one.replace('"192.0.2.50"', '5') },
  DuplicateObject: { topology: GOOD, intent: one + eip('eip', ['192.0.2.51']) },
  UnknownField: { topology: GOOD, intent: eip('eip', ['192.0.2.50'], ', egressNodeSelctor: {}') },
  NoEgressIP: { topology: GOOD, intent: eip('eip', []) },
  InvalidNode: { topology: GOOD.replace('"192.0.2.11/24","198', '"192.0.2.11/99","198'), intent: one },
  StatusInIntent: { topology: GOOD, intent: two },
  MarkInIntent: { topology: GOOD, intent: eip('eip', ['192.0.2.50'], '', '', '50000') },
  UnknownNode: { topology: GOOD, intent: one, options: { drain: ['node-z'] } },
  UnknownNetworkId: { topology: NODES + namespace('shop', BLUE) + network(''), intent: one },
  DuplicateNetworkId: {
    topology:
      NODES +
      namespace('shop', BLUE) +
      network(', annotations: {k8s.ovn.org/network-id: "1"}') +
      network(', annotations: {k8s.ovn.org/network-id: "1"}').replaceAll('blue', 'red'),
    intent: one,
  },
  MasqueradeSubnetTooSmall: {
    topology: NODES + namespace('shop', BLUE) + network(', annotations: {k8s.ovn.org/network-id: "9"}'),
    intent: one,
  },
  MasqueradeSubnetChange: { topology: GOOD + operator('ipv4: {internalMasqueradeSubnet: 169.254.0.0/17}'), intent: one },
  GatewayModeConflict: { topology: GOOD + operator('routingViaHost: false') + LOCAL_MODE, intent: one },
  GatewayModeChange: { topology: GOOD + operator('routingViaHost: true'), intent: one },
  InvalidAddress: { topology: GOOD, intent: eip('eip', ['192.0.2']) },
  DuplicateInObject: { topology: GOOD, intent: eip('eip', ['192.0.2.50', '192.0.2.50']) },
  AddressConflict: { topology: GOOD, intent: eip('eip', ['192.0.2.11']) },
  AddressHeldByOther: { topology: GOOD, intent: one + eip('eip-b', ['192.0.2.50']) },
  ReservedAddress: { topology: GOOD, intent: eip('eip', ['192.0.2.1']) },
  NoMatchingNode: { topology: GOOD, intent: eip('eip', ['192.0.2.50'], custom) },
  NoAvailableNode: { topology: GOOD, intent: one, options: { down: ['node-a', 'node-b'] } },
  NoHostingNetwork: { topology: GOOD, intent: eip('eip', ['203.0.113.5']) },
  CapacityExhausted: { topology: node('node-a', 11, { extra: cloud('{"ip":0}') }) + platform('GCP') + SHOP, intent: one },
  AntiColocation: { topology: GOOD, intent: eip('eip', ['192.0.2.50', '192.0.2.51', '192.0.2.52']) },
  DrainIncomplete: { topology: node('node-a', 11) + SHOP + two, intent: one, options: { drain: ['node-a'] } },
  InvalidMark: { topology: GOOD + eip('eip', ['192.0.2.50'], '', '', '7'), intent: one },
  DuplicateMark: {
    topology: GOOD + eip('eip', ['192.0.2.50'], '', '', '50000') + eip('other', ['192.0.2.51'], '', '', '50000'),
    intent: one + eip('other', ['192.0.2.51']),
  },
  OverlappingSelection: { topology: GOOD, intent: one + eip('other', ['192.0.2.51']) },
  UnsupportedNetwork: { topology: NODES + namespace('shop', BLUE), intent: eip('eip', ['198.51.100.50']) },
  SelectorMatchesNoNamespace: { topology: NODES + namespace('web'), intent: one },
  SelectorMatchesEverything: { topology: GOOD, intent: one.replace('{matchLabels: {team: shop}}', '{}') },
  SelectorMatchesNoPod: { topology: GOOD, intent: eip('eip', ['192.0.2.50'], ', podSelector: {matchLabels: {app: x}}') },
  SelectorNotEnforced: { topology: node('node-a', 11, pool) + SHOP + CRD, intent: eip('eip', ['192.0.2.50'], custom) },
  MissingFamily: { topology: NODES + namespace('shop') + pod('shop', ['10.128.0.5', 'fd01::5']), intent: one },
  NoGateway: { topology: GOOD.replaceAll('l3-gateway-config', 'l4'), intent: one },
  OverlappingNetworks: {
    topology: GOOD.replace('198.51.100.11/24', '192.0.2.200/26').replace('198.51.100.12/24', '192.0.2.201/26'),
    intent: eip('eip', ['192.0.2.210']),
  },
  CapacityUnknown: { topology: node('node-a', 11, { extra: cloud('{}') }) + platform('AWS') + SHOP, intent: one },
  ProviderLimit: { topology: node('node-a', 11, { extra: cloud('{"ip":101}') }) + platform('GCP') + SHOP, intent: one },
  FloatingIPLoss: {
    topology:
      node('node-a', 11, { extra: cloud('{"ip":9}') }) +
      platform('OpenStack') +
      SHOP +
      eip('eip', ['192.0.2.50'], '', held('192.0.2.50', 'gone')),
    intent: one,
  },
  UnsupportedPlatform: { topology: GOOD + platform('VSphere'), intent: eip('eip', ['198.51.100.50']) },
  Imbalance: {
    topology: GOOD + two + eip('eip-b', ['192.0.2.51'], ', podSelector: {matchLabels: {app: x}}', held('192.0.2.51', 'node-a')),
    intent: one,
  },
}

/** 5,002 objects: too many to be short. */
const ELSEWHERE: readonly ProblemCode[] = ['MarkExhausted']

/** Of the command line: it stands in no file. */
const NOWHERE: readonly ProblemCode[] = ['UnknownNode']
/** Of whole files. */
const OBJECTLESS: readonly ProblemCode[] = ['UnreadableInput', 'EmptyInput']

function problemsOf({ topology, intent, options }: Cause, policy = ''): readonly Problem[] {
  const files: SourceFile[] = [
    { file: 'topology.yaml', text: topology, role: 'topology' },
    { file: 'intent.yaml', text: intent, role: 'intent' },
  ]
  const cluster = policy && `apiVersion: egretta.dev/v1alpha1\nkind: Cluster\nmetadata: {name: c}\nspec: {policy: {${policy}}}\n`
  if (cluster) files.push({ file: 'cluster.yaml', text: cluster, role: 'intent' })
  return outcomeOf(files, null, [], { placement: { ...NO_OPTIONS, ...options }, allowUnassigned: false }).problems
}

const small = (from: string) => ({
  topology: node('node-b', 12) + node('node-a', 11) + SHOP,
  intent: one,
  ...{
    node: {},
    operator: {
      topology: node('node-a', 11) + SHOP + operator('ipv4: {internalMasqueradeSubnet: 169.254.0.0/30}'),
    },
    cluster: {
      intent: `${one}---\napiVersion: egretta.dev/v1alpha1\nkind: Cluster\nmetadata: {name: c}\nspec: {subnets: {masquerade: ["fd69::/112", 169.254.0.0/30]}}\n`,
    },
  }[from],
})

describe('a masquerade subnet that is too small for the default network', () => {
  it.each([
    ['node', 'Node/node-a', 'topology.yaml', /^ {4}k8s.ovn.org\/node-masquerade-subnet/],
    ['operator', 'Network/cluster', 'topology.yaml', /internalMasqueradeSubnet: /],
    ['cluster', 'Cluster/c', 'intent.yaml', /"fd69::\/112", /],
  ])('is told where the %s says it, once', (from, object, file, before) => {
    const annotation = from === 'node' ? '169.254.0.0/30' : ''
    const cause = small(from)
    const topology = cause.topology.replaceAll('{"ipv4":"169.254.169.0/28"}', annotation && `{"ipv4":"${annotation}"}`)
    const found = problemsOf({ ...cause, topology }).filter(({ code }) => code === 'MasqueradeSubnetTooSmall')
    expect(found).toMatchObject([{ object, source: { file } }])
    const text = file === 'intent.yaml' ? cause.intent : topology
    const { line, column } = found[0]?.source ?? { line: 0, column: 0 }
    expect(text.split('\n')[line - 1]?.slice(0, column - 1)).toMatch(before)
  })
})

describe('a problem code', () => {
  it('is in no good cluster', () => {
    expect(problemsOf({ topology: GOOD, intent: one })).toEqual([])
    expect(problemsOf({ topology: GOOD + two, intent: one })).toEqual([])
  })

  it('of inputs and placement has a cause each', () => {
    const codes = Object.keys({ ...INPUT_PROBLEMS, ...PLACEMENT_PROBLEMS, ...ADVICE_PROBLEMS })
    expect([...Object.keys(CAUSES), ...ELSEWHERE].sort()).toEqual(codes.sort())
  })

  it.each(Object.keys(CAUSES) as ProblemCode[])('%s is found, with its severity, and follows the policy', (code) => {
    const cause = CAUSES[code] as Cause
    const [found] = problemsOf(cause).filter((problem) => problem.code === code)
    expect(found).toMatchObject({
      severity: PROBLEMS[code].severity,
      message: expect.stringMatching(/^\S.*[.]$/),
      remedy: expect.stringMatching(/[.]$/),
    })
    expect([found?.source === null, found?.object === null]).toEqual([NOWHERE.includes(code), OBJECTLESS.includes(code)])
    if (code === 'UnreadableInput') return
    const others = (problems: readonly Problem[]) => problems.filter((problem) => problem.code !== code)
    expect(problemsOf(cause, `${code}: off`)).toEqual(others(problemsOf(cause)))
    for (const severity of ['error', 'warning', 'info']) {
      const changed = problemsOf(cause, `${code}: ${severity}`).filter((problem) => problem.code === code)
      expect(new Set(changed.map((problem) => problem.severity))).toEqual(new Set([severity]))
    }
  })
})
