import { describe, expect, it } from 'vitest'
import { printPrefix } from '../../src/model/address.js'
import { masqueradeSubnetOf } from '../../src/model/masquerade.js'
import type { ClusterNode } from '../../src/model/topology.js'
import { file, found, node, read } from './texts.js'

const cluster = (...subnets: string[]) =>
  `apiVersion: egretta.dev/v1alpha1\nkind: Cluster\nmetadata: {name: c}\nspec:\n  subnets:\n    masquerade: ${JSON.stringify(subnets)}\n`
const operator = (subnet: string) =>
  `apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec:\n  defaultNetwork:\n    ovnKubernetesConfig:\n      gatewayConfig:\n        ipv4:\n          internalMasqueradeSubnet: ${subnet}\n`
const having = (subnets: Readonly<Record<string, string>> | null, name = 'node-a') =>
  node(name, { 'k8s.ovn.org/node-masquerade-subnet': subnets && JSON.stringify(subnets) })
const SMALL = { ipv4: '169.254.169.0/29', ipv6: 'fd69::/125' }

const of = (...texts: string[]) => read(texts.map((text, index) => ({ ...file('both', text), file: `${index}.yaml` })))
const subnets = (...texts: string[]) => {
  const inputs = of(...texts)
  return ([4, 6] as const).map((family) => {
    const { subnet, origin } = masqueradeSubnetOf(inputs, inputs.topology.nodes[0] as ClusterNode, family)
    return `${printPrefix(subnet)} ${origin && `${origin.object} ${origin.source.line}:${origin.source.column}`}`
  })
}

describe('the masquerade subnet of a node', () => {
  it('is what the Cluster object says, else the node, else the operator, else the default', () => {
    expect(subnets(having(null))).toEqual(['169.254.169.0/29 null', 'fd69::/125 null'])
    expect(subnets(having(null), operator('169.254.0.0/17'))).toEqual(['169.254.0.0/17 Network/cluster 9:37', 'fd69::/125 null'])
    expect(subnets(having({ ipv4: '169.254.64.0/20' }), operator('169.254.0.0/17'))[0]).toBe('169.254.64.0/20 Node/node-a 11:41')
    expect(subnets(having(SMALL), cluster('fd69::/112', '169.254.0.0/17'), operator('169.254.0.0/18'))).toEqual([
      '169.254.0.0/17 Cluster/c 6:31',
      'fd69::/112 Cluster/c 6:18',
    ])
  })

  it('that the Cluster object changes is announced once for each family and pair, with what moves', () => {
    const nodes = [having(SMALL), having(SMALL, 'node-b'), having({ ipv4: '169.254.64.0/20' }, 'node-c'), having(null, 'node-d')]
    const inputs = of(...nodes, cluster('169.254.0.0/17', 'fd69::/112'), operator('169.254.169.0/29'))
    expect(found(inputs)).toEqual([
      'MasqueradeSubnetChange Cluster/c 6:18',
      'MasqueradeSubnetChange Cluster/c 6:18',
      'MasqueradeSubnetChange Cluster/c 6:35',
    ])
    expect(inputs.problems.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      'warning: Cluster/c (spec.subnets.masquerade[0]) says that the masquerade subnet is 169.254.0.0/17, but 2 nodes (node-a, node-b) have 169.254.169.0/29: on them the neighbors, host addresses, routes and flows of masquerade addresses move, and connections between the host and services are interrupted.',
      'warning: Cluster/c (spec.subnets.masquerade[0]) says that the masquerade subnet is 169.254.0.0/17, but node node-c has 169.254.64.0/20: on it the neighbors, host addresses, routes and flows of masquerade addresses move, and connections between the host and services are interrupted.',
      'warning: Cluster/c (spec.subnets.masquerade[1]) says that the masquerade subnet is fd69::/112, but 2 nodes (node-a, node-b) have fd69::/125: on them the neighbors, host addresses, routes and flows of masquerade addresses move, and connections between the host and services are interrupted.',
    ])
  })

  it('that the operator changes stays until the node says so', () => {
    const inputs = of(having(SMALL), operator('169.254.0.0/17'))
    expect(found(inputs)).toEqual(['MasqueradeSubnetChange Network/cluster 9:37'])
    expect(inputs.problems[0]?.message).toMatch(
      /but node node-a has 169.254.169.0\/29: 169.254.169.0\/29 is rendered until the annotation of the node says 169.254.0.0\/17; then the neighbors/,
    )
  })

  it('that is written with host bits is no change', () => {
    expect(found(of(having({ ipv4: '169.254.169.1/29' }), cluster('169.254.169.2/29')))).toEqual([])
  })
})
