import { describe, expect, it } from 'vitest'
import type { Lock } from '../../src/model/lock.js'
import { egressIPObject, intent, NODES, namespaceObject, podObject, topology } from '../constructs/sources.js'
import { asked, dump, unknown } from './explaining.js'

const SHOP = namespaceObject('shop', { env: 'prod' })
const WEB = podObject('shop', 'web', ['10.128.11.5'])
const DB = podObject('shop', 'db', ['10.128.11.6'])
const held = (name: string, items: Readonly<Record<string, string>>, over: object = {}) =>
  egressIPObject(name, Object.keys(items), {
    status: { items: Object.entries(items).map(([egressIP, node]) => ({ egressIP, node })) },
    ...over,
  })
const OLDER = held(
  'older',
  { '192.0.2.60': 'node-b' },
  {
    metadata: { name: 'older', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { egressIPs: ['192.0.2.60'], namespaceSelector: {}, podSelector: { matchLabels: { app: 'db' } }, egressNodeSelector: {} },
  },
)

describe('explain object', () => {
  it('says everything about an EgressIP', () => {
    const files = dump(...NODES, SHOP, WEB, DB, OLDER, egressIPObject('eip', ['192.0.2.50', 'oops']))
    const { answer, object, addresses, problems } = asked('object', 'eip', files)
    expect(answer).toBe('eip has 192.0.2.50 on node-a (1 refused); 1 pod uses it, once the plan is applied.')
    expect(object).toMatchObject({
      origin: 'intent',
      source: { file: 'dump.json' },
      nodeSelector: 'k8s.ovn.org/egress-assignable',
      matchingNodes: 3,
      pods: [{ pod: 'shop/web' }],
      overruled: [{ pod: 'shop/db', by: 'older' }],
    })
    expect(addresses?.map(({ egressIP, node, why }) => [egressIP, node, why.code])).toEqual([
      ['192.0.2.50', 'node-a', 'FirstByName'],
      ['oops', null, 'InvalidAddress'],
    ])
    expect(problems.map(({ code }) => code)).toContain('InvalidAddress')
    const older = asked('object', 'EgressIP/older', files).object
    expect(older).toMatchObject({ created: '2026-01-01T00:00:00.000Z', nodeSelector: '', pods: [{ pod: 'shop/db' }], overruled: [] })
  })
  it('knows what is not ours, what goes and what is invalid', () => {
    const files = [
      ...intent(egressIPObject('eip', ['192.0.2.50']), egressIPObject('bad', ['192.0.2.51'], { spec: { egressIPs: ['192.0.2.51'] } })),
      ...topology(...NODES, SHOP, WEB, held('theirs', { '192.0.2.70': 'node-c' })),
    ]
    expect(asked('object', 'theirs', files)).toMatchObject({
      object: { origin: 'foreign' },
      addresses: [{ egressIP: '192.0.2.70', node: 'node-c' }],
    })
    const bad = asked('object', 'bad', files)
    expect(bad.answer).toBe('bad is left out, because it is invalid: none of its addresses is placed.')
    expect(bad.addresses).toMatchObject([{ egressIP: '192.0.2.51', why: { code: 'InvalidObject' } }])
    const lock: Lock = {
      apiVersion: 'egretta.dev/v1alpha1',
      kind: 'Lock',
      objects: { theirs: { addresses: { '192.0.2.70': { node: 'node-c', seen: 'node-c' } } } },
    }
    const gone = asked('object', 'theirs', files, { lock })
    expect(gone).toMatchObject({
      answer: 'theirs is being removed: the intent does not have it any more.',
      object: { origin: 'gone', pods: [] },
    })
    expect(gone.addresses).toMatchObject([{ change: 'remove', from: 'node-c' }])
  })
  it('helps with a name that it does not find', () => {
    const files = dump(...NODES, SHOP, OLDER)
    expect(unknown('object', 'odler', files)).toBe('the inputs have no EgressIP odler; did you mean older?')
    expect(unknown('object', 'eip', dump(...NODES))).toBe('the inputs have no EgressIP eip; there is no EgressIP at all')
  })
})
