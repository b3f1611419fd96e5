import { describe, expect, it } from 'vitest'
import { resolveFlows, resolveNft } from '../../src/host/resolve.js'
import { type HostNames, patchPort } from '../../src/host/symbols.js'
import { guardFlows, guardTable } from '../../src/syntax/guard.js'
import { flow, openflow, printFlow } from '../../src/syntax/openflow.js'

const port = (name: string, type: string, ofport: number | null) => ({ name, type, ofport })
const PATCH = 'patch-br-ex_node-a-to-br-int'
const LOCAL = port('br-ex', 'internal', 65534)

const host = (ports: readonly ReturnType<typeof port>[], uplink: string | null = null): HostNames => ({
  node: 'node-a',
  links: ['br-ex', 'ens3', 'ens4'].map((name, at) => ({ name, index: at + 2, up: true, table: 'main', addresses: [] })),
  routes: [],
  bridges: [{ name: 'br-ex', uplink, datapath: 'netdev', ports: [LOCAL, ...ports] }],
})

const guard = guardFlows('br-ex', 'node-a', [], ['default'])
const out = [flow({ bridge: 'br-ex', priority: 1, cookie: 0xe6e70001n, match: 'in_port=LOCAL', actions: 'uplink(br-ex)' })]

describe('symbols of flows', () => {
  it('become port numbers', () => {
    const { entries, pending } = resolveFlows([...guard, ...out], host([port(PATCH, 'patch', 7), port('ens3', '', 1)]))
    expect(pending).toEqual([])
    expect(entries.map(printFlow).join('\n')).toMatch(/in_port=7,.*\n.*in_port=7,.*\n.*actions=output:1$/)
  })

  it.each([
    [null, 'Open vSwitch does not run, or not in OVS_RUNDIR'],
    [[], 'Open vSwitch has no bridge br-ex, or does not answer for it'],
  ])('wait for a bridge', (bridges, reason) => {
    const { entries, pending } = resolveFlows(guard, { ...host([]), bridges })
    expect(entries).toEqual([])
    expect(pending).toEqual(guard.map((entry) => ({ subsystem: 'openflow', key: openflow('br-ex').key(entry), reason })))
  })

  it('wait for a port, and for Open vSwitch to open it', () => {
    expect(resolveFlows(guard, host([])).pending[0]?.reason).toBe(`bridge br-ex has no port ${PATCH}`)
    expect(resolveFlows(guard, host([port(PATCH, 'patch', null)])).pending[0]?.reason).toBe(`Open vSwitch has not opened the port ${PATCH}`)
  })

  it('name the patch ports of networks as OVN-Kubernetes does', () => {
    expect(patchPort('breth0', 'default', 'ovn-worker')).toBe('patch-breth0_ovn-worker-to-br-int')
    expect(patchPort('br-ex', 'tenant-blue_net', 'node-a')).toBe('patch-br-ex_tenant.blue_net_node-a-to-br-int')
  })
})

describe('the uplink of a bridge', () => {
  const reason = (names: HostNames) => resolveFlows(out, names).pending[0]?.reason
  const number = (names: HostNames) => resolveFlows(out, names).entries[0]?.actions

  it('is the one that the bridge names, else its only device of the system', () => {
    expect(number(host([port('ens3', '', 1), port('ens4', '', 2)], 'ens4'))).toBe('output:2')
    expect(number(host([port('ens3', 'system', 1), port('gre0', 'gre', 2), port(PATCH, 'patch', 3)]))).toBe('output:1')
  })

  it('is not guessed', () => {
    expect(reason(host([port('ens3', '', 1), port('ens4', '', 2)]))).toMatch(/has several \(ens3, ens4\); set external_ids:bridge-uplink/)
    expect(reason(host([port(PATCH, 'patch', 3)]))).toMatch(/has none/)
  })
})

describe('devices of chains', () => {
  it('are replaced, and a chain whose device is missing waits with its rules, the rest of its table does not', () => {
    const names = host([port('ens3', '', 1)])
    const symbolic = resolveNft(guardTable([], 'uplink(br-ex)', '1.0.6'), names)
    expect(symbolic.pending).toEqual([])
    expect(symbolic.entries.flatMap((entry) => (entry.kind === 'chain' ? entry.hook?.dev : []))).toEqual(['ens3', 'ens3'])
    const missing = resolveNft(guardTable([], 'ens9', '1.0.6'), names)
    expect(missing.entries.map(({ kind }) => kind).sort()).toEqual(['set', 'set', 'table'])
    expect(new Set(missing.pending.map((each) => each.reason))).toEqual(new Set(['there is no network device ens9']))
  })
})
