import { describe, expect, it } from 'vitest'
import { gatewayModeOf } from '../../src/model/gateway-mode.js'
import type { Gateway } from '../../src/model/topology.js'
import { file, found, gateway, node, read } from './texts.js'

const cluster = (mode: string) => `apiVersion: egretta.dev/v1alpha1\nkind: Cluster\nmetadata: {name: c}\nspec:\n  gatewayMode: ${mode}\n`
const operator = (viaHost: string) =>
  `apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec:\n  defaultNetwork:\n    ovnKubernetesConfig:\n      gatewayConfig:\n        routingViaHost: ${viaHost}\n`
const config = (mode: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: openshift-network-operator, name: gateway-mode-config}\ndata:\n  mode: ${mode}\n`
const at = (mode: string, name = 'node-a') => node(name, { 'k8s.ovn.org/l3-gateway-config': gateway(name, { mode }) })

const of = (...texts: string[]) => read(texts.map((text, index) => ({ ...file('both', text), file: `${index}.yaml` })))
const mode = (...texts: string[]) => {
  const { cluster, topology } = of(...texts)
  return gatewayModeOf(cluster, topology.nodes[0]?.gateway as Gateway)
}

describe('the gateway mode of a node', () => {
  it('is what the Cluster object says, else the operator, else the ConfigMap, else the node', () => {
    expect(mode(at('local'))).toBe('local')
    expect(mode(at('shared'))).toBe('shared')
    expect(mode(at('shared'), config('local'))).toBe('local')
    expect(mode(at('local'), config('local'), operator('false'))).toBe('shared')
    expect(mode(at('shared'), config('shared'), operator('false'), cluster('local'))).toBe('local')
    expect(mode(at('local'), operator('null'))).toBe('local')
  })

  it('has no problem where all agree', () => {
    expect(found(of(at('local'), config('local'), operator('true'), cluster('local')))).toEqual([])
  })

  it('that is configured twice, differently, is a conflict at the place that loses', () => {
    const inputs = of(at('local'), cluster('local'), operator('false'), config('shared'))
    expect(found(inputs)).toEqual([
      'GatewayModeConflict Network/cluster 8:25',
      'GatewayModeConflict ConfigMap/openshift-network-operator/gateway-mode-config 5:9',
    ])
    expect(inputs.problems[0]).toMatchObject({
      severity: 'error',
      message:
        'The gateway mode is configured twice, differently: Cluster/c (spec.gatewayMode) says local, Network/cluster (spec.defaultNetwork.ovnKubernetesConfig.gatewayConfig.routingViaHost) says shared. The first one is used.',
    })
  })

  it('that the configuration changes is announced once, with its nodes', () => {
    const inputs = of(at('shared', 'node-b'), at('local', 'node-c'), at('shared'), operator('true'))
    expect(found(inputs)).toEqual(['GatewayModeChange Network/cluster 8:25'])
    expect(inputs.problems[0]).toMatchObject({
      severity: 'warning',
      message:
        'Network/cluster (spec.defaultNetwork.ovnKubernetesConfig.gatewayConfig.routingViaHost) asks for local gateway mode, but 2 nodes (node-a, node-b) are in shared gateway mode: changing it interrupts ingress and egress traffic of these nodes.',
    })
    const one = of(at('local'), cluster('shared')).problems[0]
    expect(one?.message).toBe(
      'Cluster/c (spec.gatewayMode) asks for shared gateway mode, but node node-a is in local gateway mode: changing it interrupts ingress and egress traffic of the node.',
    )
  })

  it('is announced with twenty names at most', () => {
    const nodes = Array.from({ length: 23 }, (_, index) => at('shared', `node-${String(index).padStart(2, '0')}`))
    expect(of(...nodes, cluster('local')).problems[0]?.message).toMatch(/23 nodes \(node-00, .*, node-19 and 3 more\) are in shared/)
  })

  it('of a node without gateway is no change', () => {
    expect(found(of(at(''), cluster('local')))).toEqual([])
  })

  it('that is none is left out, and said', () => {
    expect(found(of(at('shared'), operator('"no"'), config('routed')))).toEqual([
      'InvalidObject Network/cluster 8:25',
      'InvalidObject ConfigMap/openshift-network-operator/gateway-mode-config 5:9',
    ])
    expect(of(config('[]')).problems[0]).toMatchObject({
      severity: 'warning',
      message: 'ConfigMap/openshift-network-operator/gateway-mode-config: data.mode is local or shared; it is a list.',
    })
  })
})
