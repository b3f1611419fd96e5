import { describe, expect, it } from 'vitest'
import { printPrefix } from '../../src/model/address.js'
import type { ClusterNode } from '../../src/model/topology.js'
import { file, found, gateway, node, read } from './texts.js'

const only = (text: string): ClusterNode => read([file('topology', text)]).topology.nodes[0] as ClusterNode

describe('a node', () => {
  it('is read with all its annotations', () => {
    const text = node('node-a', {
      'k8s.ovn.org/node-primary-ifaddr': '{"ipv4":"192.0.2.11/24","ipv6":"2001:db8::11/64"}',
      'k8s.ovn.org/host-cidrs': '["192.0.2.11/24","2001:DB8::11/64","198.51.100.7/25"]',
      'k8s.ovn.org/secondary-host-egress-ips': '["198.51.100.50"]',
      'k8s.ovn.org/bridge-egress-ips': '["192.0.2.50"]',
      'k8s.ovn.org/node-subnets': '{"default":["10.244.1.0/24","fd00:10:244:1::/64"],"blue":["10.20.1.0/24"]}',
      'k8s.ovn.org/node-masquerade-subnet': '{"ipv4":"169.254.0.0/17","ipv6":"fd69::/112"}',
      'k8s.ovn.org/l3-gateway-config': gateway('node-a', {
        mode: 'local',
        'vlan-id': '7',
        'mac-address': '00:00:5E:00:53:0A',
        'exgw-mac-address': 'x',
      }),
      'cloud.network.openshift.io/egress-ipconfig':
        '[{"interface":"nic0","ifaddr":{"ipv4":"10.0.128.0/18"},"capacity":{"ipv4":14,"ipv6":0}}]',
    })
    const read = only(text)
    expect(read).toMatchObject({
      name: 'node-a',
      labels: { 'k8s.ovn.org/egress-assignable': '' },
      ready: true,
      invalid: null,
      gateway: { mode: 'local', bridge: 'br-ex', mac: '00:00:5e:00:53:0a', vlan: 7 },
      cloud: { interface: 'nic0', capacity: { ip: null, ipv4: 14, ipv6: 0 } },
    })
    expect(read.primary.map(printPrefix)).toEqual(['192.0.2.11/24', '2001:db8::11/64'])
    expect(read.hostPrefixes.map(printPrefix)).toEqual(['192.0.2.11/24', '2001:db8::11/64', '198.51.100.7/25'])
    expect(read.heldEgressIPs.map((address) => address.text)).toEqual(['198.51.100.50', '192.0.2.50'])
    expect(read.internalIPs.map((address) => address.text)).toEqual(['192.0.2.11'])
    expect([...read.podSubnets].map(([network, subnets]) => [network, subnets.map(printPrefix)])).toEqual([
      ['blue', ['10.20.1.0/24']],
      ['default', ['10.244.1.0/24', 'fd00:10:244:1::/64']],
    ])
    expect(read.masqueradeSubnets.map(printPrefix)).toEqual(['169.254.0.0/17', 'fd69::/112'])
    expect(read.cloud?.networks.map(printPrefix)).toEqual(['10.0.128.0/18'])
  })

  it('of an older release is a node all the same', () => {
    const older = JSON.stringify({
      default: {
        mode: 'shared',
        'interface-id': 'br-ex_node-a',
        'mac-address': '00:00:5e:00:53:01',
        'ip-address': '192.0.2.11/24',
        'next-hop': '192.0.2.1',
        'vlan-id': '0',
      },
    })
    const text = node('node-a', {
      'k8s.ovn.org/host-cidrs': null,
      'k8s.ovn.org/host-addresses': '["192.0.2.11","2001:db8::11"]',
      'k8s.ovn.org/l3-gateway-config': older,
      'k8s.ovn.org/node-subnets': '{"default":"10.128.2.0/23"}',
      'k8s.ovn.org/network-ids': '{"default":"0","net-blue":"3"}',
    })
    const read = only(text)
    expect(read.invalid).toBeNull()
    expect(read.hostPrefixes.map(printPrefix)).toEqual(['192.0.2.11/32', '2001:db8::11/128'])
    expect(read.gateway).toMatchObject({ bridge: 'br-ex', addresses: [{ length: 24 }], nextHops: [{ text: '192.0.2.1' }], vlan: 0 })
    expect(read.podSubnets.get('default')?.map(printPrefix)).toEqual(['10.128.2.0/23'])
    expect(read.networkIds.get('net-blue')).toBe(3)
  })

  it('without annotations hosts nothing, and that is no problem', () => {
    const inputs = read([file('topology', 'apiVersion: v1\nkind: Node\nmetadata: {name: bare, annotations: null, labels: null}\n')])
    expect(found(inputs)).toEqual([])
    expect(inputs.topology.nodes).toMatchObject([
      { ready: false, invalid: null, primary: [], hostPrefixes: [], gateway: null, cloud: null },
    ])
  })

  it.each([
    ['bridge-id absent and another interface-id', gateway('node-a', { 'bridge-id': undefined, 'interface-id': 'eth0' }), { bridge: null }],
    ['no gateway', '{"default":{"mode":""}}', null],
  ])('has its gateway: %s', (_, config, expected) => {
    const read = only(node('node-a', { 'k8s.ovn.org/l3-gateway-config': config }))
    expect(read.invalid).toBeNull()
    if (expected === null) expect(read.gateway).toBeNull()
    else expect(read.gateway).toMatchObject(expected)
  })

  it.each(['/../../evil', '..', 'br ex', 'a-bridge-of-16-ch'])('is invalid where its bridge cannot be one: %j', (bridge) => {
    for (const name of [{ 'bridge-id': bridge }, { 'bridge-id': undefined, 'interface-id': `${bridge}_node-a` }]) {
      const read = only(node('node-a', { 'k8s.ovn.org/l3-gateway-config': gateway('node-a', name) }))
      expect(read.gateway).toBeNull()
      expect(read.invalid).toContain('is not the name of a bridge')
    }
  })

  it.each(['False', 'Unknown'])('is not ready when its condition is %s', (status) => {
    expect(only(node('node-a', {}, status)).ready).toBe(false)
  })

  it('is told to quote a condition that YAML takes for a boolean', () => {
    const inputs = read([file('topology', node('node-a').replace('status: "True"', 'status: True'))])
    expect(found(inputs)).toEqual(['InvalidNode Node/node-a 17:27'])
    expect(inputs.problems[0]?.message).toContain('in quotes')
  })
})

describe('a malformed annotation', () => {
  it.each([
    ['k8s.ovn.org/host-cidrs', '["192.0.2.11/33"]', 'not an address with a prefix length'],
    ['k8s.ovn.org/host-cidrs', '["192.0.2.11"', 'not valid JSON'],
    ['k8s.ovn.org/host-cidrs', '{}', 'must be a list'],
    ['k8s.ovn.org/node-primary-ifaddr', '{"ipv4":"2001:db8::1/64"}', 'ipv4 holds'],
    ['k8s.ovn.org/node-primary-ifaddr', 'null', 'must be a mapping'],
    ['k8s.ovn.org/l3-gateway-config', '{}', 'default must be a mapping'],
    ['k8s.ovn.org/l3-gateway-config', gateway('node-a', { mode: 'routed' }), 'shared or local'],
    ['k8s.ovn.org/l3-gateway-config', gateway('node-a', { 'mac-address': 'x' }), 'hardware address'],
    ['k8s.ovn.org/l3-gateway-config', gateway('node-a', { 'vlan-id': '4095' }), 'vlan-id'],
    ['k8s.ovn.org/l3-gateway-config', gateway('node-a', { 'next-hops': ['x'] }), 'not an address'],
    ['cloud.network.openshift.io/egress-ipconfig', '[]', 'list with one mapping'],
    ['cloud.network.openshift.io/egress-ipconfig', '[{"capacity":{"ip":-1}}]', 'capacity.ip'],
    ['cloud.network.openshift.io/egress-ipconfig', '[{"capacity":{"ip":"14"}}]', 'capacity.ip'],
    ['k8s.ovn.org/node-subnets', '{"default":[5]}', 'not an address with a prefix length'],
    ['k8s.ovn.org/network-ids', '{"default":"x"}', 'network id'],
    ['k8s.ovn.org/bridge-egress-ips', '["192.0.2.50/32"]', 'not an address'],
  ])('%s: %s makes the node invalid and no other', (key, value, message) => {
    const inputs = read([file('topology', node('node-a', { [key]: value }), node('node-b'))])
    const [a, b] = inputs.topology.nodes
    expect(a?.invalid).toContain(key)
    expect(b?.invalid).toBeNull()
    expect(inputs.problems).toMatchObject([
      { code: 'InvalidNode', severity: 'warning', object: 'Node/node-a', source: { file: 'topology.yaml' } },
    ])
    expect(inputs.problems[0]?.message).toContain(message)
    const line = node('node-a', { [key]: value })
      .split('\n')
      .findIndex((text) => text.includes(key))
    expect(inputs.problems[0]?.source?.line).toBe(line + 1)
  })

  it('does not hide the sound addresses beside it', () => {
    const read = only(node('node-a', { 'k8s.ovn.org/host-cidrs': '["x","198.51.100.1/24"]', 'k8s.ovn.org/l3-gateway-config': '{' }))
    expect(read.hostPrefixes.map(printPrefix)).toEqual(['198.51.100.1/24'])
    expect(read.primary).toHaveLength(1)
  })

  it('may be an address of the status', () => {
    expect(found(read([file('topology', node('node-a').replace('address: 192.0.2.11', 'address: 192.0.2.311'))]))).toEqual([
      'InvalidNode Node/node-a 13:33',
    ])
  })
})

describe('labels', () => {
  it('are texts; others are reported and left out', () => {
    const inputs = read([
      file('topology', 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels:\n    env: true\n    tier: "1"\n'),
    ])
    expect(found(inputs)).toEqual(['InvalidObject Namespace/shop 6:10'])
    expect(inputs.topology.namespaces).toMatchObject([{ name: 'shop', labels: { tier: '1' } }])
  })
})

describe('the facts of a cluster', () => {
  const operator = (spec: string) => `apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\n${spec}`

  it('come from the operator', () => {
    const text = operator(`spec:
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}, {cidr: "fd01::/48"}]
  serviceNetwork: [172.30.0.0/16]
  defaultNetwork:
    type: OVNKubernetes
    ovnKubernetesConfig:
      mtu: 8900
      genevePort: 6082
      ipv4: {internalJoinSubnet: 100.65.0.0/16}
      gatewayConfig: {routingViaHost: true, ipv4: {internalMasqueradeSubnet: 169.254.0.0/17}}
      egressIPConfig: {reachabilityTotalTimeoutSeconds: 0}
`)
    const infrastructure =
      'apiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata: {name: cluster}\nstatus: {platformStatus: {type: AWS}}\n'
    const { topology, cluster, problems } = read([file('topology', text, infrastructure)])
    const where = { object: 'Network/cluster', source: { file: 'topology.yaml' } }
    const gatewayConfig = 'spec.defaultNetwork.ovnKubernetesConfig.gatewayConfig'
    expect(problems).toEqual([])
    expect(topology.facts).toMatchObject({
      platform: 'AWS',
      gatewayModes: [{ value: 'local', field: `${gatewayConfig}.routingViaHost`, ...where }],
      masqueradeSubnets: [{ value: { length: 17 }, field: `${gatewayConfig}.ipv4.internalMasqueradeSubnet`, ...where }],
      mtu: 8900,
      genevePort: 6082,
      release: null,
      defaultNetworkOverlay: true,
      defaultNetworkAdvertised: false,
      userDefinedNetworks: false,
      reachabilityTimeout: 0,
      placedByOvnkube: 'Network.operator.openshift.io/cluster',
      takesNodeSelector: null,
    })
    expect(topology.facts.podSubnets.map(printPrefix)).toEqual(['10.128.0.0/14', 'fd01::/48'])
    expect(topology.facts.serviceSubnets.map(printPrefix)).toEqual(['172.30.0.0/16'])
    expect(cluster.subnets.join.map(printPrefix)).toEqual(['100.65.0.0/16', 'fd98::/64'])
    expect(cluster.subnets.masquerade.map(printPrefix)).toEqual(['169.254.0.0/17', 'fd69::/125'])
    expect(cluster).toMatchObject({
      placement: 'advisory',
      placementReason: 'Network.operator.openshift.io/cluster shows that ovnkube decides',
    })
  })

  it('come from the ConfigMaps where there is no operator', () => {
    const config =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ovn-kubernetes, name: ovn-config}\ndata: {net_cidr: "10.244.0.0/16/24,fd00:10:244::/48/64", svc_cidr: "10.96.0.0/16", mtu: "1400"}\n'
    const mode =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: openshift-network-operator, name: gateway-mode-config}\ndata: {mode: local}\n'
    const other = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: x, name: ovn-config}\ndata: {net_cidr: nonsense}\n'
    const { topology, cluster, problems } = read([file('topology', config, mode, other)])
    expect(problems).toEqual([])
    expect(topology.facts).toMatchObject({
      gatewayModes: [{ value: 'local', object: 'ConfigMap/openshift-network-operator/gateway-mode-config', field: 'data.mode' }],
      mtu: 1400,
      placedByOvnkube: 'ConfigMap/ovn-kubernetes/ovn-config',
      takesNodeSelector: null,
      platform: null,
      reachabilityTimeout: null,
    })
    expect(cluster.subnets.pod.map(printPrefix)).toEqual(['10.244.0.0/16', 'fd00:10:244::/48'])
    expect([...topology.ignored]).toEqual([['ConfigMap', 1]])
  })

  it('say whether the CRD of EgressIP knows egressNodeSelector', () => {
    const crd = (name: string, properties: string) =>
      `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ${name}}\nspec: {versions: [{name: v1, served: true, schema: {openAPIV3Schema: {properties: {spec: {properties: ${properties}}}}}}]}\n`
    const known = (...texts: string[]) => read([file('topology', ...texts)]).topology.facts.takesNodeSelector
    expect(known(crd('egressips.k8s.ovn.org', '{egressIPs: {type: array}}'))).toBe(false)
    expect(known(crd('egressips.k8s.ovn.org', '{egressNodeSelector: {type: object}}'))).toBe(true)
    expect(known(crd('egressservices.k8s.ovn.org', '{egressNodeSelector: {type: object}}'))).toBe(null)
  })

  it('have the release that the ClusterVersion asks for', () => {
    const version = (rest: string) => `apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\n${rest}`
    const release = (rest: string) => read([file('topology', version(rest))]).topology.facts.release
    expect(release('spec: {desiredUpdate: {version: 4.10.1}}\nstatus: {desired: {version: 4.14.3}}\n')).toBe('4.14.3')
    expect(release('spec: {desiredUpdate: {version: 4.10.1}}\n')).toBe('4.10.1')
    expect(release('')).toBeNull()
  })

  it('show whether there are user-defined networks, or could be', () => {
    const crd = (name: string) => `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ${name}}\n`
    const secondary =
      'apiVersion: k8s.ovn.org/v1\nkind: UserDefinedNetwork\nmetadata: {namespace: blue, name: net}\nspec: {topology: Layer2, layer2: {role: Secondary}}\n'
    const networks = (...texts: string[]) => read([file('topology', ...texts)]).topology.facts
    expect(networks(crd('egressips.k8s.ovn.org')).userDefinedNetworks).toBe(false)
    expect(networks(secondary).userDefinedNetworks).toBe(true)
    for (const name of ['userdefinednetworks.k8s.ovn.org', 'clusteruserdefinednetworks.k8s.ovn.org'])
      expect(networks(crd(name))).toMatchObject({ userDefinedNetworks: true, takesNodeSelector: null })
  })

  it('say whether the default network has an overlay; without, it is advertised', () => {
    const transport = (name: string) => operator(`spec: {defaultNetwork: {ovnKubernetesConfig: {transport: ${name}}}}\n`)
    const network = (name: string) => read([file('topology', transport(name))]).topology.facts
    expect(network('NoOverlay')).toMatchObject({ defaultNetworkOverlay: false, defaultNetworkAdvertised: true })
    expect(network('Geneve')).toMatchObject({ defaultNetworkOverlay: true, defaultNetworkAdvertised: false })
  })

  it('leave out a number that is none', () => {
    const ovn = (fields: string) => operator(`spec:\n  defaultNetwork:\n    ovnKubernetesConfig: ${fields}\n`)
    const inputs = read([file('topology', ovn('{mtu: big, genevePort: 70000}'))])
    expect(found(inputs)).toEqual(['InvalidObject Network/cluster 6:32', 'InvalidObject Network/cluster 6:49'])
    expect(inputs.problems.map(({ message, severity }) => [severity, message])).toEqual([
      ['warning', 'Network/cluster: mtu is a number from 1 to 65535; it is the text "big".'],
      ['warning', 'Network/cluster: genevePort is a number from 1 to 65535; it is the number 70000.'],
    ])
    expect(inputs.cluster).toMatchObject({ mtu: 1400, genevePort: 6081 })
  })

  it('leave out a subnet that is none, and other types of network', () => {
    const inputs = read([file('topology', operator('spec:\n  serviceNetwork: [x]\n  defaultNetwork: {type: Calico}\n'))])
    expect(found(inputs)).toEqual(['InvalidObject Network/cluster 5:20'])
    expect(inputs.cluster.placement).toBe('enforced')
    expect(read([file('topology', operator('status: {defaultNetwork: {type: OVNKubernetes}}\n'))]).cluster.placement).toBe('advisory')
    expect(read([file('topology', operator('').replace('operator.', 'config.'))]).topology.ignored.get('Network')).toBe(1)
  })
})
