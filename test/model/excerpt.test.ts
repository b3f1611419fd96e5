import { describe, expect, it } from 'vitest'
import { found, read } from './texts.js'

const pod = (name: string, more: object, status: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', labels: { app: 'web' }, ...more },
  status: { phase: 'Running', podIP: '10.128.0.5', ...status },
})
const inputs = (...objects: readonly object[]) =>
  read(objects.map((object, index) => ({ file: `${index}.json`, text: JSON.stringify(object), role: 'topology' as const })))

describe('of a pod', () => {
  it('only what is read counts: the rest changes no digest and makes no duplicate', () => {
    const older = pod('web', { resourceVersion: '1' }, { startTime: '2026-01-01T00:00:00Z' })
    const newer = pod('web', { resourceVersion: '2' }, { startTime: '2026-01-02T00:00:00Z' })
    expect(inputs(older).digest).toBe(inputs(newer).digest)
    expect(inputs(older, newer).topology.pods).toHaveLength(1)
    expect(found(inputs(older, newer))).toEqual([])
  })

  it.each([
    ['its labels', pod('web', { labels: { app: 'api' } })],
    ['its address', pod('web', {}, { podIP: '10.128.0.6' })],
    ['its phase', pod('web', {}, { phase: 'Failed' })],
    ['when it was made', pod('web', { creationTimestamp: '2026-01-01T00:00:00Z' })],
    ['its networks', pod('web', { annotations: { 'k8s.ovn.org/pod-networks': '{}' } })],
  ])('%s counts', (_, changed) => {
    const before = pod('web', {})
    expect(inputs(changed).digest).not.toBe(inputs(before).digest)
    expect(found(inputs(before, changed)).map((text) => text.split(' ')[0])).toEqual(['DuplicateObject', 'DuplicateObject'])
  })

  it('what is malformed is still told with its place', () => {
    expect(found(inputs(pod('web', { labels: { app: 5 } }))).length).toBe(1)
  })
})
