import { describe, expect, it } from 'vitest'
import { type BenchCluster, benchCluster } from '../../bench/cluster.js'
import { firstFit } from '../../bench/first-fit.js'
import { readInputs } from '../../src/model/inputs.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'

const SIZE = { objects: 200, nodes: 100, pods: 500 }

function inputsOf({ intent, ...topology }: BenchCluster) {
  const file = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const there = Object.entries(topology).map(([name, items]) => ({ file: `${name}.json`, text: file(items), role: 'topology' as const }))
  return readInputs([{ file: 'intent.json', text: file(intent), role: 'intent' }, ...there], null)
}

describe('the cluster of the bench', () => {
  const inputs = inputsOf(benchCluster(SIZE))

  it('is the same for the same seed', () => {
    expect(benchCluster(SIZE)).toEqual(benchCluster(SIZE))
    expect(inputsOf(benchCluster(SIZE, false, 2)).digest).not.toBe(inputs.digest)
  })

  it('is sound, and has what a large cluster has', () => {
    expect(inputs.problems).toEqual([])
    const { nodes, pods } = inputs.topology
    expect(nodes.filter(({ hostPrefixes }) => hostPrefixes.some(({ address }) => address.text.startsWith('192.168.')))).toHaveLength(20)
    expect(pods.filter(({ addresses }) => addresses.length === 2)).toHaveLength(SIZE.pods)
    expect(inputs.current.size).toBeGreaterThan(SIZE.objects / 2)
  })

  it('gives the yardstick and the placement the same addresses to place, and no address that is refused for itself', () => {
    const { assignments, unassigned } = place(inputs, NO_OPTIONS)
    expect(assignments.length + unassigned.length).toBe(2 * SIZE.objects)
    const placeless = ['NoMatchingNode', 'NoAvailableNode', 'NoHostingNetwork', 'CapacityExhausted', 'AntiColocation']
    expect(unassigned.filter(({ reason }) => !placeless.includes(reason))).toEqual([])
    expect(firstFit(inputs).assigned).toBeLessThanOrEqual(assignments.length)
  })
})
