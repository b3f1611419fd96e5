import { type BenchNode, POOL_NAMES, type Pool, primaryV4, primaryV6, RACK, secondaryV4, secondaryV6 } from './nodes.js'
import type { Random } from './random.js'

/** An EgressIP as the intent has it, and as the cluster has it now: with status, if it was placed before. */
export interface BenchEgressIP {
  readonly wanted: object
  readonly live: object | null
}

interface Wish {
  readonly text: string
  readonly secondary: boolean
}

/**
 * Two addresses each. Objects of a rack ask for its networks, a fifth of the addresses for the secondary one. Their node selectors
 * overlap: all egress nodes, one pool, two pools, or a pool of a zone. Seven of ten are placed already, on nodes that fit.
 */
export function egressIPs(count: number, nodes: readonly BenchNode[], random: Random): readonly BenchEgressIP[] {
  const racks = Math.ceil(nodes.length / RACK)
  const used = Array.from({ length: racks }, () => ({ primary: 0, secondary: 0 }))
  return Array.from({ length: count }, (_, index) => {
    const rack = index % racks
    const numbers = used[rack] as { primary: number; secondary: number }
    const primary = (v6: boolean): Wish => ({ text: (v6 ? primaryV6 : primaryV4)(rack, 4096 + numbers.primary++), secondary: false })
    const secondary = (v6: boolean): Wish => ({ text: (v6 ? secondaryV6 : secondaryV4)(rack, 100 + numbers.secondary++), secondary: true })
    const v6 = random.chance(0.85)
    const kind = random.next()
    const pool: Pool = kind < 0.02 ? 'shared' : random.pick(WEIGHTED)
    const wishes =
      kind < 0.02 ? [secondary(false), secondary(v6)] : kind < 0.38 ? [primary(false), secondary(v6)] : [primary(false), primary(v6)]
    const { selector, pools } = nodeSelector(pool, nodes[rack * RACK]?.zone ?? '', random)
    const spec = {
      egressIPs: wishes.map(({ text }) => text),
      ...(selector === null ? {} : { egressNodeSelector: selector }),
      ...podSelection(index, random),
    }
    const name = `egress-${String(index).padStart(5, '0')}`
    const candidates = nodes.slice(rack * RACK, (rack + 1) * RACK).filter((node) => node.pool !== null && pools.includes(node.pool))
    const items = random.chance(0.7) ? placed(wishes, candidates, random) : []
    const created = `2026-${two(1 + random.below(7))}-${two(1 + random.below(28))}T${two(random.below(24))}:${two(random.below(60))}:00Z`
    const head = { apiVersion: 'k8s.ovn.org/v1', kind: 'EgressIP' }
    return {
      wanted: { ...head, metadata: { name }, spec },
      live: items.length === 0 ? null : { ...head, metadata: { creationTimestamp: created, generation: 1, name }, spec, status: { items } },
    }
  })
}

const WEIGHTED: readonly Pool[] = ['shared', 'shared', 'shared', 'shared', 'gold', 'gold', 'gold', 'silver', 'silver', 'bronze']
const two = (value: number): string => String(value).padStart(2, '0')
const POOL_LABEL = 'example.com/egress-pool'

function nodeSelector(pool: Pool, zone: string, random: Random): { readonly selector: object | null; readonly pools: readonly Pool[] } {
  const kind = random.next()
  if (kind < 0.25) return { selector: null, pools: POOL_NAMES }
  if (kind < 0.7) return { selector: { matchLabels: { [POOL_LABEL]: pool } }, pools: [pool] }
  if (kind < 0.8) return { selector: { matchLabels: { [POOL_LABEL]: pool, 'topology.kubernetes.io/zone': zone } }, pools: [pool] }
  const pools = [...new Set([pool, random.pick(POOL_NAMES)])]
  return { selector: { matchExpressions: [{ key: POOL_LABEL, operator: 'In', values: pools }] }, pools }
}

/** Two objects share a namespace by the label of their pods; three of a hundred select all of a team and so overlap with others. */
function podSelection(index: number, random: Random): object {
  const namespace = index >> 1
  const team = `team-${namespace >> 2}`
  if (random.chance(0.03)) return { namespaceSelector: { matchLabels: { team } }, podSelector: { matchLabels: { app: 'batch' } } }
  const podSelector =
    index % 2 === 0
      ? { matchLabels: { app: 'web' } }
      : { matchExpressions: [{ key: 'app', operator: 'In', values: ['api', 'worker', 'batch'] }] }
  return { namespaceSelector: { matchLabels: { team, env: ENVIRONMENTS[namespace % 4] } }, podSelector }
}

const ENVIRONMENTS = ['prod', 'stage', 'test', 'dev']

/** Namespaces in the number that `egressIPs` selects: one for two objects. */
export const namespaceObjects = (objects: number): readonly object[] =>
  Array.from({ length: Math.ceil(objects / 2) }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      creationTimestamp: '2026-01-12T09:00:00Z',
      labels: { env: ENVIRONMENTS[index % 4], 'kubernetes.io/metadata.name': namespaceName(index), team: `team-${index >> 2}` },
      name: namespaceName(index),
      resourceVersion: String(200_000 + index),
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }))

export const namespaceName = (index: number): string => `team-${index >> 2}-${ENVIRONMENTS[index % 4]}`

/** Any node for each address, two of one object apart; the address with fewer choices first. */
function placed(wishes: readonly Wish[], candidates: readonly BenchNode[], random: Random): readonly object[] {
  const taken = new Set<string>()
  const items = [...wishes]
    .sort((a, b) => Number(b.secondary) - Number(a.secondary))
    .flatMap(({ text, secondary }) => {
      const free = candidates.filter((node) => (!secondary || node.secondNic) && !taken.has(node.name))
      if (free.length === 0) return []
      const { name } = random.pick(free)
      taken.add(name)
      return [{ egressIP: text, node: name }]
    })
  return items.reverse()
}
