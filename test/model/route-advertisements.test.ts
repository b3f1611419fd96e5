import { describe, expect, it } from 'vitest'
import { file, found, read } from './texts.js'

const wide = (name: string, labels: string) =>
  `apiVersion: k8s.ovn.org/v1\nkind: ClusterUserDefinedNetwork\nmetadata: {name: ${name}, labels: {${labels}}}\nspec:\n  namespaceSelector: {}\n  network: {topology: Layer3, layer3: {role: Primary}}\n`
const advertisements = (selectors: string, { types = 'PodNetwork', status = '' } = {}) =>
  `apiVersion: k8s.ovn.org/v1\nkind: RouteAdvertisements\nmetadata: {name: ra}\nspec:\n  advertisements: [${types}]\n  networkSelectors: ${selectors}\n${status}`
const DEFAULT = '[{networkSelectionType: DefaultNetwork}]'
const labelled = (selector: string) =>
  `[{networkSelectionType: ClusterUserDefinedNetworks, clusterUserDefinedNetworkSelector: {networkSelector: ${selector}}}]`

const of = (text: string) => {
  const { topology } = read([file('topology', wide('blue', 'advertise: "true"'), wide('red', ''), text)])
  const networks = topology.networks.filter(({ advertised }) => advertised).map(({ network }) => network)
  return [...(topology.facts.defaultNetworkAdvertised ? ['default'] : []), ...networks]
}

describe('RouteAdvertisements', () => {
  it('advertise the networks that they select', () => {
    expect(of(advertisements(DEFAULT))).toEqual(['default'])
    expect(of(advertisements(labelled('{matchLabels: {advertise: "true"}}')))).toEqual(['cluster_udn_blue'])
    expect(of(advertisements(labelled('{}')))).toEqual(['cluster_udn_blue', 'cluster_udn_red'])
    expect(of(advertisements('[]'))).toEqual([])
  })

  it('of egress IPs alone advertise no pods', () => {
    expect(of(advertisements(DEFAULT, { types: 'EgressIP' }))).toEqual([])
    expect(of(advertisements(DEFAULT, { types: 'EgressIP, PodNetwork' }))).toEqual(['default'])
  })

  it('that ovnkube refused do nothing', () => {
    const accepted = (status: string) => `status: {conditions: [{type: Accepted, status: "${status}"}]}\n`
    expect(of(advertisements(DEFAULT, { status: accepted('False') }))).toEqual([])
    expect(of(advertisements(DEFAULT, { status: accepted('True') }))).toEqual(['default'])
  })

  it('with a selector that is none are warned of and select nothing', () => {
    const text = advertisements(labelled('{matchLabel: {advertise: "true"}}'))
    expect(of(text)).toEqual([])
    const inputs = read([file('topology', text, advertisements(labelled('5')).replace('name: ra', 'name: rb'))])
    expect(found(inputs)).toEqual(['InvalidObject RouteAdvertisements/ra 6:139', 'InvalidObject RouteAdvertisements/rb 13:126'])
    expect(inputs.problems.map(({ severity }) => severity)).toEqual(['warning', 'warning'])
  })
})
