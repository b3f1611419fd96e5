import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile, type Held } from '../../src/compile/index.js'
import { bundleManifest, printManifest } from '../../src/model/bundle.js'
import type { NodeState } from '../../src/model/node-state.js'
import { render } from '../../src/render/index.js'
import { languageOf } from '../../src/syntax/languages.js'
import { inputs, network, node } from '../compile/cluster.js'
import { shuffled } from '../syntax/arbitrary.js'

const nodes = ['a', 'b', 'c'].map((name, at) => node(`node-${name}`, [`192.0.2.1${at}/24`, `2001:db8::1${at}/64`]))
const networks = [network('blue', 1), network('red', 2)]
const held: readonly Held[] = [
  { egressIP: '192.0.2.50', object: 'eip-a', node: 'node-a' },
  { egressIP: '192.0.2.51', object: 'eip-a', node: 'node-b' },
  { egressIP: '2001:db8::50', object: 'eip-b', node: 'node-a' },
  { egressIP: '2001:db8::51', object: 'eip-b', node: 'node-c' },
]
const bundles = (list: readonly Held[], from = inputs(nodes, networks)) =>
  Object.fromEntries(compile(from, list).states.map((state) => [state.node, render(state)]))
const textOf = (state: NodeState, path: string) => render(state).find((file) => file.path === path)?.text

describe('the files of a bundle', () => {
  const [state] = compile(inputs(nodes, networks), held).states as [NodeState]

  it('are sorted by path and say when they apply', () => {
    expect(render(state).map(({ path, phases }) => [path, phases.join()])).toEqual([
      ['addresses.json', 'steady,startup,shutdown'],
      ['guard.nftables.json', 'shutdown'],
      ['guard.openflow.br-ex.flows', 'startup,shutdown'],
      ['neighbors.json', 'steady,startup,shutdown'],
      ['nftables.json', 'steady,startup,shutdown'],
      ['openflow.br-ex.flows', 'steady,startup,shutdown'],
      ['openflow.br-ex.ports.json', 'steady,startup,shutdown'],
      ['routes.json', 'steady,startup,shutdown'],
    ])
  })

  it('hold the egress IPs of the node as single addresses, and its masquerade addresses', () => {
    expect(textOf(state, 'addresses.json')).toBe(`[
  {"address":"169.254.0.2/17","dev":"br-ex","for":"Node/node-a"},
  {"address":"192.0.2.50/32","dev":"br-ex","for":"EgressIP/eip-a"},
  {"address":"2001:db8::50/128","dev":"br-ex","for":"EgressIP/eip-b"},
  {"address":"fd69::2/112","dev":"br-ex","for":"Node/node-a"}
]
`)
  })

  it('are valid for a node that hosts nothing, with guards that silence nothing', () => {
    const [empty] = compile(inputs([node('node-a', ['192.0.2.11/24'])]), []).states as [NodeState]
    expect(textOf(empty, 'addresses.json')).not.toContain('EgressIP/')
    expect(textOf(empty, 'guard.nftables.json')).not.toContain('"element"')
    expect(render(empty).map(({ path }) => path)).toEqual([
      'addresses.json',
      'guard.nftables.json',
      'guard.openflow.br-ex.flows',
      'neighbors.json',
      'nftables.json',
      'openflow.br-ex.flows',
      'routes.json',
    ])
  })

  it('name the uplink by its symbol unless the cluster names a device', () => {
    expect(textOf(state, 'guard.nftables.json')).toContain('"dev":"uplink(br-ex)"')
    expect(textOf({ ...state, guardDevice: 'ens3' }, 'guard.nftables.json')).toContain('"dev":"ens3"')
  })

  it('are read back by their language, which prints what it read as it was but for the frame', () => {
    for (const { path, text } of render(state)) {
      const language = languageOf(path)?.language
      if (!language) throw new Error(`no language for ${path}`)
      const entries = language.parse(text)
      expect(entries.length).toBeGreaterThan(0)
      expect(text.endsWith(language.print(entries)), path).toBe(true)
    }
  })

  it('carry the node and its bridge in the header of the flows, and no flow is part of it', () => {
    const lines = textOf(state, 'guard.openflow.br-ex.flows')?.split('\n') ?? []
    expect(lines[0]).toContain('br-ex on node-a')
    expect(lines.slice(0, lines.indexOf('')).every((line) => line.startsWith('#'))).toBe(true)
  })
})

describe('bytes', () => {
  it('are the same for any order of nodes, networks and assignments', () => {
    const expected = bundles(held)
    fc.assert(
      fc.property(shuffled(nodes), shuffled(networks), shuffled(held), (someNodes, someNetworks, someHeld) => {
        expect(bundles(someHeld, inputs(someNodes, someNetworks))).toEqual(expected)
      }),
      { numRuns: 20 },
    )
  })

  it('are the same for any order of the lists in a state', () => {
    const [state] = compile(inputs(nodes, networks), held).states as [NodeState]
    const reversed = {
      ...state,
      nodeAddresses: [...state.nodeAddresses].reverse(),
      egressAddresses: [...state.egressAddresses].reverse(),
      neighbors: [...state.neighbors].reverse(),
      silenced: [...state.silenced].reverse(),
    }
    const written = (of: NodeState) => render(of).map(({ path, phases, text }) => ({ path, phases, text }))
    expect(written(reversed)).toEqual(written(state))
  })

  it('change on two nodes when an address moves, also where a snapshot still lists it on the old one', () => {
    const listing = nodes.map((one) =>
      one.name === 'node-a' ? { ...one, hostPrefixes: [...one.hostPrefixes, { address: one.internalIPs[0], length: 32 }] } : one,
    )
    for (const from of [inputs(nodes, networks), inputs(listing as typeof nodes, networks)]) {
      const before = bundles(held, from)
      const after = bundles(
        held.map((one) => (one.egressIP === '192.0.2.50' ? { ...one, node: 'node-c' } : one)),
        from,
      )
      const changed = Object.keys(after).filter((name) => manifest(name, before) !== manifest(name, after))
      expect(changed).toEqual(['node-a', 'node-c'])
    }
  })
})

const manifest = (name: string, of: ReturnType<typeof bundles>) => printManifest(bundleManifest(name, of[name] ?? [], {}))
