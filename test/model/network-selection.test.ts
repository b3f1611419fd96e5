import { describe, expect, it } from 'vitest'
import { networksSelectedBy } from '../../src/model/network-selection.js'
import type { LabelSelector } from '../../src/model/selector.js'
import { file, read } from './texts.js'

const namespace = (name: string, team: string) =>
  `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {team: ${team}, k8s.ovn.org/primary-user-defined-network: ""}}\n`
const udn = (namespace: string) =>
  `apiVersion: k8s.ovn.org/v1\nkind: UserDefinedNetwork\nmetadata: {namespace: ${namespace}, name: net}\nspec: {topology: Layer3, layer3: {role: Primary}}\n`
const wide =
  'apiVersion: k8s.ovn.org/v1\nkind: ClusterUserDefinedNetwork\nmetadata: {name: red}\nspec:\n  namespaceSelector: {matchLabels: {team: red}}\n  network: {topology: Layer2, layer2: {role: Primary}}\n'

const { topology } = read([
  file(
    'topology',
    namespace('a', 'red'),
    namespace('b', 'red'),
    namespace('c', 'blue'),
    namespace('d', 'blue'),
    udn('c'),
    udn('gone'),
    wide,
  ),
])
const selected = (namespaceSelector: LabelSelector) => networksSelectedBy(topology, { namespaceSelector }).map(({ network }) => network)

describe('the networks that an EgressIP selects', () => {
  it('are those of whose namespaces it selects one', () => {
    expect(selected({ matchLabels: { team: 'red' } })).toEqual(['cluster_udn_red'])
    expect(selected({ matchLabels: { team: 'blue' } })).toEqual(['c_net'])
    expect(selected({})).toEqual(['c_net', 'cluster_udn_red'])
    expect(selected({ matchLabels: { team: 'green' } })).toEqual([])
  })
})
