import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Watch } from '../../src/host/follow.js'
import { watchFlows, watchKernel, watchNftables } from '../../src/host/watch.js'
import { addBridge } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { type Machine, machine } from './machine.js'
import { BRIDGE } from './samples.js'

const WITHIN = 5_000

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'the watches of a host', () => {
  let host: Machine
  let watches: readonly Watch[]
  const [kernel, nft, flows] = [vi.fn(), vi.fn(), vi.fn()]
  const said = (notice: typeof kernel) => vi.waitFor(() => expect(notice).toHaveBeenCalled(), WITHIN)
  const ip = (...args: readonly string[]) => host.namespace.exec('ip', args)

  beforeAll(async () => {
    host = machine('watch', { ovs: true })
    const exec = { prefix: host.prefix }
    watches = [watchKernel(exec, kernel), watchNftables(exec, nft), watchFlows(exec, host.ovs?.rundir ?? '', BRIDGE, flows)]
    await Promise.all([kernel, nft, flows].map(said))
    // The kernel ends its duplicate detection some time after the devices came.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
  })
  afterAll(() => {
    for (const watch of watches ?? []) watch.close()
    host?.close()
  })
  beforeEach(() => {
    for (const notice of [kernel, nft, flows]) notice.mockReset()
  })

  it.each([
    ['an address', ['addr', 'add', '192.0.2.50/32', 'dev', BRIDGE], ['addr', 'del', '192.0.2.50/32', 'dev', BRIDGE]],
    ['a route', ['route', 'add', '203.0.113.0/24', 'dev', BRIDGE], ['route', 'del', '203.0.113.0/24', 'dev', BRIDGE]],
    ['a rule', ['rule', 'add', 'from', '10.0.0.1', 'lookup', '1000'], ['rule', 'del', 'from', '10.0.0.1', 'lookup', '1000']],
    [
      'a neighbor of ours',
      ['neigh', 'add', '2001:db8::9', 'lladdr', '02:00:00:00:00:09', 'dev', BRIDGE, 'nud', 'permanent', 'protocol', '230'],
      ['neigh', 'flush', 'dev', BRIDGE, 'nud', 'permanent'],
    ],
  ] as const)('see %s come and go', async (_, add, remove) => {
    ip(...add)
    await said(kernel)
    kernel.mockReset()
    ip(...remove)
    await said(kernel)
  })

  it('do not wake for neighbors that the kernel looks for, nor for tables and bridges of others', async () => {
    const words = 'Proto => "udp", PeerAddr => "192.0.2.77", PeerPort => 9'
    host.namespace.exec('perl', ['-MIO::Socket::IP', '-e', `IO::Socket::IP->new(${words})->send("x")`])
    expect(host.namespace.exec('ip', ['neigh', 'show', '192.0.2.77']).stdout).toMatch(/INCOMPLETE|FAILED/)
    expect(kernel).not.toHaveBeenCalled()
    host.namespace.exec('nft', ['add table inet theirs; add chain inet theirs c; delete table inet theirs'])
    host.ovs?.vsctl('add-br', 'br-other', '--', 'set', 'bridge', 'br-other', 'datapath_type=netdev')
    host.ovs?.ofctl('add-flow', 'br-other', 'priority=7,actions=drop')
    host.namespace.exec('nft', ['add table inet egretta'])
    await said(nft)
    expect(nft).toHaveBeenCalledTimes(1)
    expect(nft).toHaveBeenCalledWith(
      expect.objectContaining({ who: expect.stringMatching(/^process \d+ \(nft\) changed table inet egretta$/) }),
    )
    expect(flows).not.toHaveBeenCalled()
  })

  it('see flows change, and ovs-vswitchd and its bridge go and come back', async () => {
    const { ovs } = host
    if (!ovs) throw new Error('no Open vSwitch')
    ovs.ofctl('add-flow', BRIDGE, 'table=3,priority=7,actions=drop')
    await said(flows)
    ovs.ofctl('del-flows', BRIDGE, 'table=3')
    await vi.waitFor(() => expect(flows.mock.lastCall?.[0]?.who).toBe(`somebody deleted flows of bridge ${BRIDGE}`), WITHIN)
    process.kill(Number(readFileSync(`${ovs.rundir}/ovs-vswitchd.pid`, 'utf8')), 'SIGKILL')
    await vi.waitFor(() => expect(flows.mock.lastCall?.[0]?.who).toBe(`Open vSwitch went from bridge ${BRIDGE}`), WITHIN)
    flows.mockReset()
    const daemon = ['--pidfile', '--log-file', '--unixctl'].map((option) => `${option}=${ovs.rundir}/ovs-vswitchd.${option.slice(2, 5)}`)
    const env = { OVS_RUNDIR: ovs.rundir }
    host.namespace.exec('ovs-vswitchd', [`unix:${ovs.rundir}/db.sock`, '--disable-system', ...daemon, '--detach', '--no-chdir'], { env })
    await said(flows)
    flows.mockReset()
    ovs.vsctl('del-br', BRIDGE)
    await said(flows)
    flows.mockReset()
    addBridge(host.namespace, ovs, BRIDGE, '02:00:00:00:00:01')
    await said(flows)
  })

  it('start their programs again when somebody ends them', async () => {
    for (const [command, notice, act] of [
      ['ip', kernel, () => ip('rule', 'add', 'from', '10.0.0.2', 'lookup', '1000')],
      ['nft', nft, () => host.namespace.exec('nft', ['add table inet egretta; delete table inet egretta'])],
    ] as const) {
      const mine = host.namespace.processes().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${command}\0`))
      expect(mine).toHaveLength(1)
      process.kill(mine[0] as number, 'SIGKILL')
      await said(notice)
      notice.mockReset()
      act()
      await said(notice)
    }
  })
})
