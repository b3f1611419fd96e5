import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/model/address.js'
import { selectionOf } from '../../src/model/selection.js'
import type { ClusterPod, Topology } from '../../src/model/topology.js'

const pod = (name: string, over: Partial<ClusterPod> = {}): ClusterPod => ({
  namespace: 'shop',
  name,
  labels: { app: 'web' },
  node: 'node-a',
  hostNetwork: false,
  phase: 'Running',
  addresses: [parseAddress('10.244.1.5')].filter((address) => address !== undefined),
  network: 'default',
  ...over,
})

const pods = [
  pod('web-1'),
  pod('starting', { phase: 'Pending' }),
  pod('unscheduled', { phase: 'Pending', addresses: [] }),
  pod('job', { phase: 'Succeeded' }),
  pod('crashed', { phase: 'Failed' }),
  pod('agent', { hostNetwork: true }),
  pod('db-1', { labels: { app: 'db' } }),
  pod('web-1', { namespace: 'test' }),
  pod('lost', { namespace: 'gone' }),
]
const namespaces = [
  { name: 'shop', labels: { env: 'prod' } },
  { name: 'test', labels: { env: 'test' } },
]
const topology = { pods, namespaces } as unknown as Topology
const select = selectionOf(topology)
const names = (namespaceSelector: object, podSelector: object = {}) =>
  select({ namespaceSelector, podSelector }).map(({ namespace, name }) => `${namespace}/${name}`)

describe('selectionOf', () => {
  it('takes pods that run, have an address and a network of their own', () => {
    expect(names({ matchLabels: { env: 'prod' } })).toEqual(['shop/web-1', 'shop/starting', 'shop/db-1'])
  })
  it('takes every known namespace for an empty selector', () => {
    expect(names({})).toEqual(['shop/web-1', 'shop/starting', 'shop/db-1', 'test/web-1'])
  })
  it('requires both selectors', () => {
    expect(names({ matchLabels: { env: 'prod' } }, { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] })).toEqual([
      'shop/db-1',
    ])
    expect(names({ matchLabels: { env: 'none' } })).toEqual([])
  })
})
