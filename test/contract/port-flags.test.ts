import { expect, it } from 'vitest'
import { hostOpenflow } from '../../src/host/openflow.js'
import { readBridges } from '../../src/host/ovsdb.js'
import { resolvePortFlags } from '../../src/host/resolve.js'
import { diff } from '../../src/plan/diff.js'
import { patchOf } from '../../src/syntax/symbols.js'
import { run, until } from '../lab/netns.js'
import { addBridge, addPatch, startOvs } from '../lab/ovs.js'
import { describeWith } from '../requires.js'
import { execOn, machine } from './machine.js'
import { BRIDGE } from './samples.js'

describeWith(['root', 'linux', 'ip', 'ovs'], 'the flag of a port', () => {
  it('is seen to be lost when ovs-vswitchd restarts, and is set again; another port keeps its own', async () => {
    const host = machine('flag', { ovs: true })
    let { ovs } = host
    if (!ovs) throw new Error('no Open vSwitch')
    const { rundir } = ovs
    try {
      addBridge(host.namespace, ovs, 'br-int')
      for (const owner of ['node-a', 'net.blue_node-a', 'net.blue_node-b']) addPatch(ovs, BRIDGE, owner)
      const desired = [{ bridge: BRIDGE, port: patchOf('net-blue'), flag: 'no-flood', for: null } as const]
      const look = async () => {
        const bridges = (await readBridges(rundir)) ?? []
        const names = { node: 'node-a', links: [], routes: [], bridges }
        const { entries, pending } = resolvePortFlags(desired, names)
        expect(pending).toEqual([])
        const ofBridge = bridges.filter(({ name }) => name === BRIDGE)
        const subsystem = hostOpenflow(execOn(host), rundir, ofBridge, 'node-a')
        const { own, foreign } = await subsystem.observe()
        const { changes } = diff(
          subsystem.language,
          entries,
          own.filter((entry) => 'flag' in entry),
          foreign,
        )
        return { foreign, changes, apply: () => subsystem.apply(changes) }
      }
      const ofctl = (...args: readonly string[]) =>
        run('ovs-ofctl', [args[0] ?? '', `unix:${rundir}/${BRIDGE}.mgmt`, ...args.slice(1)]).stdout
      const flagged = () => [...ofctl('dump-ports-desc').matchAll(/^ (\S+)\(.*\n.*NO_FLOOD/gm)].map(([, port]) => port)
      const [first] = (await look()).changes
      expect(first).toMatchObject({ op: 'add', key: 'br-ex port 2 no-flood' })
      await (await look()).apply()
      expect(flagged()).toEqual(['2'])
      // The port of another node's network, whoever flagged it, is not ours.
      ofctl('mod-port', '3', 'no-flood')
      const { foreign, changes } = await look()
      expect(foreign.filter((entry) => 'flag' in entry)).toMatchObject([{ port: '3' }])
      expect(changes).toEqual([])
      ovs.stop()
      await until('end of ovs-vswitchd', 10, () => host.namespace.processes().length === 0)
      ovs = startOvs(host.namespace, rundir)
      expect(flagged()).toEqual([])
      const again = await look()
      expect(again.changes).toMatchObject([{ op: 'add' }])
      await again.apply()
      expect((await look()).changes).toEqual([])
      expect(flagged()).toEqual(['2'])
    } finally {
      ovs?.stop()
      host.close()
    }
  })
})
