import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changesOf, type Document, egressIP, node, nodesOf, placed, platform } from './cluster.js'

/** A cluster as drawn: the documents are made from it, and the rules are checked on it, not on what the program read. */
interface Drawn {
  readonly nodes: readonly {
    readonly name: string
    readonly pools: readonly string[]
    readonly ready: boolean
    readonly capacity: number | null
  }[]
  readonly objects: readonly {
    readonly name: string
    readonly age: number | null
    readonly pool: string
    readonly addresses: readonly { readonly text: string; readonly holder: string | null }[]
  }[]
}

const NAMES = ['ash', 'birch', 'cedar', 'dogwood', 'gone']
const POOLS = ['north', 'south']

const drawn: fc.Arbitrary<Drawn> = fc
  .record({
    nodes: fc.array(
      fc.record({
        pools: fc.subarray(POOLS, { minLength: 1 }),
        ready: fc.constantFrom(true, true, true, false),
        capacity: fc.option(fc.integer({ min: 0, max: 3 }), { nil: null }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    objects: fc.array(
      fc.record({
        age: fc.option(fc.integer({ min: 0, max: 2 }), { nil: null }),
        pool: fc.constantFrom(...POOLS),
        addresses: fc.array(fc.option(fc.constantFrom(...NAMES), { nil: null }), { maxLength: 2 }),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ nodes, objects }) => ({
    nodes: nodes.map((drawnNode, i) => ({ name: NAMES[i] as string, ...drawnNode })),
    objects: objects.map(({ addresses, ...object }, i) => ({
      name: `eip-${i}`,
      ...object,
      addresses: addresses.map((holder, k) => ({ text: `192.0.2.${100 + i * 10 + k}`, holder })),
    })),
  }))

const labels = (pools: readonly string[]) => Object.fromEntries(pools.map((pool) => [pool, 'yes']))

const documentsOf = ({ nodes, objects }: Drawn): readonly Document[] => [
  platform('Azure'),
  ...nodes.map(({ name, pools, ready, capacity }, i) =>
    node(name, {
      primary: [`192.0.2.${i + 10}/24`],
      labels: labels(pools),
      ready: ready ? 'True' : 'False',
      cloud: { networks: { ipv4: '192.0.2.0/24' }, capacity: capacity === null ? {} : { ip: capacity } },
    }),
  ),
  ...objects.map(({ name, age, pool, addresses }) =>
    egressIP(
      name,
      addresses.map(({ text }) => text),
      {
        ...(age !== null && { age }),
        nodes: { matchLabels: { [pool]: 'yes' } },
        status: Object.fromEntries(addresses.flatMap(({ text, holder }) => (holder ? [[text, holder]] : []))),
      },
    ),
  ),
]

type Answer = Readonly<Record<string, string>>

/** An address with its object, in the order of precedence. */
const asked = ({ objects }: Drawn) =>
  objects
    .toSorted((a, b) => (a.age ?? Infinity) - (b.age ?? Infinity) || (a.name < b.name ? -1 : 1))
    .flatMap((object) => object.addresses.map((address) => ({ object, ...address })))

/** What the rules say of who stays, told again from the drawing. */
function staying(cluster: Drawn): Answer {
  const answer: Record<string, string> = {}
  for (const { pool, addresses } of cluster.objects) {
    for (const { text, holder } of addresses) {
      const host = cluster.nodes.find(({ name }) => name === holder)
      const taken = addresses.some((other) => answer[other.text] === holder)
      if (host?.ready && host.pools.includes(pool) && !taken) answer[text] = host.name
    }
  }
  return answer
}

/** Every way to place the addresses that do not stay. */
function* everyAnswer(
  cluster: Drawn,
  kept: Answer,
  rest = asked(cluster).filter(({ text }) => !kept[text]),
  done: Answer = kept,
): Generator<Answer> {
  const [next, ...later] = rest
  if (!next) return yield done
  yield* everyAnswer(cluster, kept, later, done)
  for (const { name, ready, pools, capacity } of cluster.nodes) {
    const full = capacity !== null && Object.values(done).filter((on) => on === name).length >= capacity
    const shared = next.object.addresses.some(({ text }) => done[text] === name)
    if (ready && pools.includes(next.object.pool) && !full && !shared)
      yield* everyAnswer(cluster, kept, later, { ...done, [next.text]: name })
  }
}

/** The rank of an answer: of two, the one with the lexicographically smaller rank is better. */
function rank(cluster: Drawn, answer: Answer): readonly (number | string)[] {
  const loads = cluster.nodes.map(({ name }) => Object.values(answer).filter((on) => on === name).length)
  return [
    -Object.keys(answer).length,
    ...asked(cluster).map(({ text }) => (answer[text] ? 0 : 1)),
    loads.reduce((sum, load) => sum + load * load, 0),
    ...cluster.objects.flatMap(({ addresses }) => addresses.map(({ text }) => answer[text] ?? '')),
  ]
}

function isBetter(a: readonly (number | string)[], b: readonly (number | string)[]): boolean {
  const at = a.findIndex((value, i) => value !== b[i])
  return at >= 0 && (a[at] as number) < (b[at] as number)
}

/** The cluster after the placement has come true. */
const settled = (cluster: Drawn): Drawn => {
  const on = nodesOf(placed(documentsOf(cluster)))
  return {
    ...cluster,
    objects: cluster.objects.map((object) => ({
      ...object,
      addresses: object.addresses.map(({ text }) => ({ text, holder: on[text] ?? null })),
    })),
  }
}

const holders = ({ objects }: Drawn): Answer =>
  Object.fromEntries(objects.flatMap(({ addresses }) => addresses.flatMap(({ text, holder }) => (holder ? [[text, holder]] : []))))

describe('placement', () => {
  it('keeps what is valid and is the very best of all ways to place the rest', () => {
    fc.assert(
      fc.property(drawn, (cluster) => {
        const kept = staying(cluster)
        let best = kept
        for (const answer of everyAnswer(cluster, kept)) if (isBetter(rank(cluster, answer), rank(cluster, best))) best = answer
        expect(nodesOf(placed(documentsOf(cluster)))).toEqual(best)
      }),
      { numRuns: 150 },
    )
  })

  it('is the same for any order of the input', () => {
    const bare = (documents: readonly Document[]) => {
      const { assignments, unassigned, marks, problems } = placed(documents)
      return {
        assignments,
        unassigned,
        marks: [...marks],
        problems: problems.map(({ source: _, ...problem }) => JSON.stringify(problem)).sort(),
      }
    }
    const shuffled = drawn
      .map(documentsOf)
      .chain((documents) => fc.tuple(fc.constant(documents), fc.shuffledSubarray([...documents], { minLength: documents.length })))
    fc.assert(
      fc.property(shuffled, ([documents, turned]) => {
        expect(bare(turned)).toEqual(bare(documents))
      }),
      { numRuns: 150 },
    )
  })

  it('lists each address of each object once', () => {
    fc.assert(
      fc.property(drawn, (cluster) => {
        const { assignments, unassigned } = placed(documentsOf(cluster))
        const listed = [...assignments, ...unassigned].map(({ egressIP }) => egressIP).sort()
        expect(listed).toEqual(
          asked(cluster)
            .map(({ text }) => text)
            .sort(),
        )
      }),
      { numRuns: 100 },
    )
  })

  it('changes nothing once it has come true, and a node that joins moves nothing', () => {
    const joining = { name: 'yew', pools: POOLS, ready: true, capacity: null }
    fc.assert(
      fc.property(drawn.map(settled), (cluster) => {
        expect(nodesOf(placed(documentsOf(cluster)))).toEqual(holders(cluster))
        const changes = changesOf(placed(documentsOf({ ...cluster, nodes: [...cluster.nodes, joining] })))
        for (const text of Object.keys(holders(cluster))) expect(changes[text]).toBe('keep')
      }),
      { numRuns: 150 },
    )
  })

  it('moves only the addresses of a node that leaves', () => {
    fc.assert(
      fc.property(drawn.map(settled), fc.nat(3), (cluster, i) => {
        const gone = cluster.nodes[i % cluster.nodes.length]?.name
        const after = nodesOf(placed(documentsOf({ ...cluster, nodes: cluster.nodes.filter(({ name }) => name !== gone) })))
        for (const [text, on] of Object.entries(holders(cluster))) if (on !== gone) expect(after[text]).toBe(on)
      }),
      { numRuns: 150 },
    )
  })
})
