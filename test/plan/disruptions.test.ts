import { describe, expect, it } from 'vitest'
import { outcomeOf } from '../../src/constructs/outcome.js'
import { NO_OPTIONS } from '../../src/place/place.js'
import type { Disruption } from '../../src/plan/disruptions.js'
import { buildPlan } from '../../src/plan/index.js'
import { egressIPObject, intent, NODES, namespaceObject, nodeObject, podObject, topology } from '../constructs/sources.js'

const SHOP = namespaceObject('shop', { env: 'prod' })
const held = (address: string, node: string) => egressIPObject('eip', [address], { status: { items: [{ egressIP: address, node }] } })

/** A pod with a primary user-defined network. */
function bluePod(name: string, node: string): object {
  const networks = { 'shop/blue': { role: 'primary', ip_addresses: ['10.20.0.9/24'] } }
  const pod = podObject('shop', name, ['10.128.11.9']) as { metadata: object; spec: object }
  const annotations = { 'k8s.ovn.org/pod-networks': JSON.stringify(networks) }
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec: { ...pod.spec, nodeName: node } }
}

function disruptions(addresses: readonly string[], drain: readonly string[], ...there: readonly object[]): readonly Disruption[] {
  const files = [...intent(egressIPObject('eip', addresses)), ...topology(SHOP, ...there)]
  return buildPlan(outcomeOf(files, null, [], { placement: { ...NO_OPTIONS, drain }, allowUnassigned: false })).disruptions
}

describe('disruptionsOf', () => {
  it('counts for a move the pods that use the address, by family', () => {
    const pods = [podObject('shop', 'both', ['10.128.11.5', 'fd01::5']), podObject('shop', 'v4', ['10.128.11.6'])]
    const moved = disruptions(['192.0.2.50'], ['node-a'], ...NODES, ...pods, held('192.0.2.50', 'node-a'))
    expect(moved).toEqual([{ egressIP: '192.0.2.50', object: 'eip', node: 'node-b', from: 'node-a', pods: 2, networks: [] }])
    expect(disruptions(['2001:db8:1::50'], ['node-a'], ...NODES, ...pods, held('2001:db8:1::50', 'node-a'))).toMatchObject([{ pods: 1 }])
    expect(disruptions(['192.0.2.50'], ['node-a'], ...NODES, held('192.0.2.50', 'node-a'))).toMatchObject([{ pods: 0 }])
  })
  it('says nothing of what stays, and of new addresses where every network is there', () => {
    const pod = podObject('shop', 'v4', ['10.128.11.6'])
    expect(disruptions(['192.0.2.50'], [], ...NODES, pod, held('192.0.2.50', 'node-a'))).toEqual([])
    expect(disruptions(['192.0.2.50'], [], ...NODES, pod)).toEqual([])
  })
  it('does not count pods that an older object decides', () => {
    const older = egressIPObject('older', ['192.0.2.70'], {
      metadata: { name: 'older', creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { items: [{ egressIP: '192.0.2.70', node: 'node-c' }] },
    })
    const moved = disruptions(
      ['192.0.2.50'],
      ['node-a'],
      ...NODES,
      podObject('shop', 'v4', ['10.128.11.6']),
      held('192.0.2.50', 'node-a'),
      older,
    )
    expect(moved).toMatchObject([{ object: 'eip', pods: 0 }])
  })
  it('names user-defined networks that the new node does not have', () => {
    const move = (nodes: readonly object[], ...pods: readonly object[]) =>
      disruptions(['192.0.2.50'], ['node-a'], ...nodes, ...pods, held('192.0.2.50', 'node-a'))[0]
    const [a, b] = NODES as [object, object, object]
    expect(move([a, b], bluePod('one', 'node-a'))).toMatchObject({ node: 'node-b', pods: 1, networks: ['shop_blue'] })
    expect(move([a, b], bluePod('one', 'node-a'), bluePod('two', 'node-b'))).toMatchObject({ pods: 2, networks: [] })
    const subnets = { 'k8s.ovn.org/node-subnets': JSON.stringify({ default: ['10.128.12.0/24'], shop_blue: ['10.20.1.0/24'] }) }
    expect(move([a, nodeObject({ name: 'node-b', host: 12, annotations: subnets })], bluePod('one', 'node-a'))).toMatchObject({
      networks: [],
    })
  })
  it('names them for a new address too', () => {
    const [a, b] = NODES as [object, object, object]
    const added = disruptions(['192.0.2.50'], [], b, bluePod('one', 'node-a'))
    expect(added).toEqual([{ egressIP: '192.0.2.50', object: 'eip', node: 'node-b', from: null, pods: 0, networks: ['shop_blue'] }])
    expect(disruptions(['192.0.2.50'], [], a, bluePod('one', 'node-a'))).toEqual([])
  })
})
