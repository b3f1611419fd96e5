import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { factsObject, type HostFacts } from '../../src/model/host-facts.js'
import { HOST_FACTS_SCHEMA } from '../../src/model/host-facts-schema.js'
import { readInputs } from '../../src/model/inputs.js'

const facts: HostFacts = {
  node: 'node-a',
  tools: [
    { name: 'ndptool', version: null },
    { name: 'nft', version: '1.0.6' },
  ],
  sysctls: { 'net.ipv4.ip_forward': 1 },
  interfaces: [{ name: 'eth1', index: 3, up: true, addresses: [{ address: '198.51.100.11/24', scope: 'global' }] }],
  rules: [{ priority: 100, src: '0.0.0.0/0', table: null }],
  routes: [{ family: 'inet', table: 1003, dst: '10.1.0.0/16' }],
  neighbors: { ipv4: 1, ipv6: 0 },
  configuredAddresses: [{ address: '198.51.100.11', file: '/etc/netplan/01.yaml' }],
}
const read = (...objects: readonly object[]) =>
  readInputs(
    objects.map((object, i) => ({ file: `topology/${i}.json`, text: JSON.stringify(object), role: 'topology' })),
    null,
  )
const of = (inputs: ReturnType<typeof read>) => inputs.problems.map(({ code, message }) => `${code}: ${message}`)

describe('HostFacts', () => {
  it('are read as they were printed, by name of the node', () => {
    const inputs = read(factsObject({ ...facts, node: 'node-b' }), factsObject(facts), factsObject(facts))
    expect(inputs.topology.hosts.map((host) => host.facts)).toEqual([facts, { ...facts, node: 'node-b' }])
    expect(inputs.problems.filter(({ object }) => object?.startsWith('HostFacts'))).toEqual([])
  })

  it('that are wrong are named with the place, and left out', () => {
    const inputs = read(
      factsObject({ ...facts, interfaces: [{ name: 'eth1', index: 3, up: true, addresses: [{ address: 'x', scope: 'global' }] }] }),
    )
    expect(inputs.topology.hosts).toEqual([])
    const [problem] = inputs.problems.filter(({ code }) => code === 'InvalidObject')
    expect(problem).toMatchObject({
      object: 'HostFacts/node-a',
      message: expect.stringContaining('spec.interfaces[0].addresses[0].address must be an address with a prefix length'),
      source: { file: 'topology/0.json' },
    })
  })

  it('with a field that this egretta does not know are used all the same', () => {
    const object = factsObject(facts)
    const inputs = read({ ...object, spec: { ...(object.spec as object), uptime: 7 } })
    expect(of(inputs).filter((text) => text.includes('HostFacts'))).toEqual([expect.stringMatching(/^UnknownField: .*spec\.uptime/)])
    expect(inputs.topology.hosts).toHaveLength(1)
  })

  it('of one host that differ are all left out', () => {
    const inputs = read(factsObject(facts), factsObject({ ...facts, neighbors: { ipv4: 2, ipv6: 0 } }))
    expect(of(inputs).some((text) => text.startsWith('DuplicateObject'))).toBe(true)
    expect(inputs.topology.hosts).toEqual([])
  })

  it('have the schema that is published', () => {
    expect(JSON.parse(readFileSync('schema/host-facts.json', 'utf8'))).toEqual(HOST_FACTS_SCHEMA)
  })
})
