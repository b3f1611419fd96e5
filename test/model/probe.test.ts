import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readInputs } from '../../src/model/inputs.js'
import { unreachableNodes } from '../../src/model/probe.js'
import { PROBE_RESULT_SCHEMA } from '../../src/model/probe-schema.js'
import type { SourceFile } from '../../src/model/source.js'

interface Result {
  readonly node: string
  readonly reachable: boolean
  readonly time?: string
  readonly method?: string
}

const probes = (...results: readonly Result[]) => ({ apiVersion: 'egretta.dev/v1alpha1', kind: 'ProbeResult', spec: { results } })
const operator = (seconds: number) => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'Network',
  metadata: { name: 'cluster' },
  spec: { defaultNetwork: { ovnKubernetesConfig: { egressIPConfig: { reachabilityTotalTimeoutSeconds: seconds } } } },
})
const cluster = (unreachable: readonly string[]) => ({ apiVersion: 'egretta.dev/v1alpha1', kind: 'Cluster', spec: { unreachable } })
const files = (...objects: readonly object[]): readonly SourceFile[] =>
  objects.map((object, i) => ({ file: `topology/${i}.json`, text: JSON.stringify(object), role: 'topology' }))
const read = (...objects: readonly object[]) => readInputs(files(...objects), null)
const unreachable = (...objects: readonly object[]) => [...unreachableNodes(read(...objects), []).keys()].sort()

describe('readProbes', () => {
  it('lets the newest time win, whatever its offset and wherever it stands', () => {
    const early = probes({ node: 'a', reachable: false, time: '2026-03-01T10:00:00Z' })
    const late = probes({ node: 'a', reachable: true, time: '2026-03-01T11:30:00.5+01:00' })
    expect(unreachable(early, late)).toEqual([])
    expect(unreachable(late, early)).toEqual([])
    expect(read(early, late).topology.probes).toEqual([{ node: 'a', reachable: true, time: '2026-03-01T11:30:00.5+01:00', method: null }])
  })
  it('lets unreachable win among equally old results, and any time win over none', () => {
    const time = '2026-03-01T10:00:00Z'
    expect(unreachable(probes({ node: 'a', reachable: true, time }, { node: 'a', reachable: false, time }))).toEqual(['a'])
    expect(unreachable(probes({ node: 'a', reachable: false }, { node: 'a', reachable: true }))).toEqual(['a'])
    expect(unreachable(probes({ node: 'a', reachable: false }, { node: 'a', reachable: true, time }))).toEqual([])
  })
  it('answers the same for any order of the results', () => {
    const result = fc.record(
      {
        node: fc.constantFrom('a', 'b'),
        reachable: fc.boolean(),
        time: fc.constantFrom('2026-03-01T10:00:00Z', '2026-03-01T11:00:00+01:00', '2026-03-02T00:00:00Z'),
        method: fc.constantFrom('grpc', 'tcp'),
      },
      { requiredKeys: ['node', 'reachable'] },
    )
    const shuffled = fc
      .array(result, { maxLength: 6 })
      .chain((results) => fc.tuple(fc.constant(results), fc.shuffledSubarray(results, { minLength: results.length })))
    fc.assert(
      fc.property(shuffled, ([results, others]) => {
        expect(read(probes(...others)).topology.probes).toEqual(read(probes(...results)).topology.probes)
      }),
    )
  })
  it('reads objects without a name, several of one name, and counts them into the digest', () => {
    const named = (node: string) => ({ ...probes({ node, reachable: false }), metadata: { name: 'now' } })
    const inputs = read(named('a'), named('b'), probes({ node: 'c', reachable: false }))
    expect(inputs.problems).toEqual([])
    expect(inputs.topology.probes.map(({ node }) => node)).toEqual(['a', 'b', 'c'])
    expect(inputs.digest).not.toBe(read(named('a'), named('b')).digest)
  })
  it('leaves out a wrong result with a problem that names its place, and keeps the others', () => {
    const text = `apiVersion: egretta.dev/v1alpha1
kind: ProbeResult
spec:
  results:
  - {node: a, reachable: false}
  - {node: b, reachable: "no"}
  - {node: c, reachable: false, time: yesterday}
  - {node: d, reachable: false, time: 2026-13-01T10:00:00Z}
  - {node: e, reachable: false, colour: red}
`
    const inputs = readInputs([{ file: 'topology/probes.yaml', text, role: 'topology' }], null)
    expect(inputs.topology.probes.map(({ node }) => node)).toEqual(['a', 'e'])
    expect(inputs.problems.map(({ code, source }) => `${code} ${source?.line}:${source?.column}`)).toEqual([
      'InvalidObject 6:26',
      'InvalidObject 7:39',
      'InvalidObject 8:39',
      'UnknownField 9:33',
    ])
    expect(read({ apiVersion: 'egretta.dev/v1alpha1', kind: 'ProbeResult', spec: {} })).toMatchObject({
      topology: { probes: [] },
      problems: [{ code: 'InvalidObject', message: 'ProbeResult: spec.results is required and absent.' }],
    })
  })
})

describe('unreachableNodes', () => {
  it('says how each is known; the command line and the Cluster object go before a probe', () => {
    const inputs = read(
      cluster(['a', 'b']),
      probes(...['a', 'c'].map((node) => ({ node, reachable: false })), { node: 'd', reachable: false, time: '2026-03-01T10:00:00Z' }),
    )
    expect(Object.fromEntries(unreachableNodes(inputs, ['b', 'e']))).toEqual({
      a: 'Cluster.spec.unreachable',
      b: '--down',
      c: 'a ProbeResult',
      d: 'a ProbeResult of 2026-03-01T10:00:00Z',
      e: '--down',
    })
  })
  it('does not let a probe that says reachable overrule what is said explicitly', () => {
    expect(unreachable(cluster(['a']), probes({ node: 'a', reachable: true, time: '2026-03-01T10:00:00Z' }))).toEqual(['a'])
  })
  it('ignores probes, and nothing else, where the reachability check is off', () => {
    const objects = [cluster(['a']), probes({ node: 'b', reachable: false })]
    expect(unreachable(...objects, operator(0))).toEqual(['a'])
    expect(unreachable(...objects, operator(1))).toEqual(['a', 'b'])
  })
})

describe('schema/probe-result.json', () => {
  it('is the schema that the code uses', () => {
    const path = new URL('../../schema/probe-result.json', import.meta.url)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(PROBE_RESULT_SCHEMA)
  })
})
