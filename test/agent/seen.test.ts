import { mkdirSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Bundle, loadBundle } from '../../src/agent/bundle.js'
import { ownershipOf } from '../../src/agent/lifecycle.js'
import { applyPart, observe, planPart } from '../../src/agent/reconcile.js'
import { recorded, type Seen, type SeenSubsystem } from '../../src/agent/seen.js'
import { look } from '../../src/agent/sight.js'
import { viewBridges } from '../../src/agent/view.js'
import type { Change } from '../../src/model/change.js'
import type { Entry } from '../../src/syntax/languages.js'
import { execOn } from '../contract/machine.js'
import { describeWith } from '../requires.js'
import { BRIDGE, type Content, NODE, writeBundle } from './bundles.js'
import { type Node, openNode } from './node.js'

const converges = ({ digests }: SeenSubsystem): boolean => {
  const { desired, observed } = digests()
  return observed === desired
}

const CONTENT: Content = { flows: 3 }

describeWith(['root', 'linux', 'ip', 'nft', 'ovs'], 'what a pass saw', () => {
  let node: Node
  beforeAll(() => {
    node = openNode('seen')
    mkdirSync(node.stateDir)
  })
  afterAll(() => node?.close())
  beforeEach(() => {
    writeBundle(node.bundle, CONTENT)
  })
  afterEach(() => {
    node.ovs.ofctl('del-flows', BRIDGE)
    node.ovs.ofctl('add-flow', BRIDGE, 'priority=0,actions=NORMAL')
  })

  /** One pass over the base and the guards, as `apply` makes it. */
  async function pass(): Promise<Seen> {
    const bundle = loadBundle(node.bundle) as Bundle
    const place = { node: NODE, phase: 'steady', stateDir: node.stateDir, rundir: node.ovs.rundir } as const
    const { host: bare, goals } = await look(place, bundle, execOn(node), () => viewBridges(node.ovs.rundir))
    const { host, seen } = recorded(bare)
    const changes: Change<Entry>[] = []
    let converged = true
    for (const goal of goals) {
      const of = (ownership: string) => ({ ...goal, subsystems: goal.subsystems.filter((name) => ownershipOf(bundle, name) === ownership) })
      const found = await observe(host, goal.subsystems).catch(() => null)
      if (found === null) return seen(bundle, goals, changes, false)
      const plan = planPart(host, of('manage'), found)
      const differences = planPart(host, of('verify'), found).changes
      const outcome = plan.conflicts.length > 0 ? { made: [], problems: plan.conflicts } : await applyPart(host, of('manage'), found, plan)
      changes.push(...outcome.made, ...differences)
      converged &&= outcome.problems.length + differences.length === 0
    }
    return seen(bundle, goals, changes, converged)
  }

  it('is one digest per subsystem, the same on every host and in every pass that has the same to do', async () => {
    const [first, second] = [await pass(), await pass()]
    for (const { digests, error } of Object.values(second.subsystems)) {
      const { desired, observed } = digests()
      expect([observed, error]).toEqual([desired, null])
    }
    expect(first.subsystems.openflow?.digests().desired).toBe(second.subsystems.openflow?.digests().desired)
    expect(first.subsystems.openflow?.digests().desired).toMatch(/^[0-9a-f]{16}$/)
    expect([first.subsystems.openflow?.differed === null, second.subsystems.openflow?.differed]).toEqual([false, null])
    writeBundle(node.bundle, { ...CONTENT, flows: 4 })
    const third = await pass()
    expect(third.subsystems.openflow?.digests().desired).not.toBe(first.subsystems.openflow?.digests().desired)
    expect(third.subsystems.neighbors?.digests().desired).toBe(first.subsystems.neighbors?.digests().desired)
  })

  it('is the egress IPs that the host holds', async () => {
    const egress = [
      { address: '192.0.2.50', interface: BRIDGE },
      { address: '2001:db8::50', interface: BRIDGE },
    ]
    expect((await pass()).held).toEqual(egress)
    writeBundle(node.bundle, { ...CONTENT, egress: ['192.0.2.50'] })
    expect((await pass()).held).toEqual(egress.slice(0, 1))
  })

  it('says where a subsystem that is only verified differs, and holds no address that is not there', async () => {
    await pass()
    writeBundle(node.bundle, { ...CONTENT, egress: ['192.0.2.50', '192.0.2.60'], ownership: { addresses: 'verify', rules: 'off' } })
    const { subsystems, held } = await pass()
    expect(subsystems.addresses).toMatchObject({ ownership: 'verify', differed: `192.0.2.60/32 dev ${BRIDGE}` })
    expect(subsystems.addresses && converges(subsystems.addresses)).toBe(false)
    // One that is still there though nobody asks for it is held too.
    expect(held?.map(({ address }) => address)).toEqual(['192.0.2.50', '2001:db8::50'])
    expect(subsystems.rules).toBeUndefined()
  })

  it('sees an entry of somebody else in the place of ours', async () => {
    await pass()
    node.ovs.ofctl('add-flow', BRIDGE, 'cookie=0x1,table=9,priority=2,ip,nw_dst=10.1.0.1,actions=NORMAL')
    const { openflow } = (await pass()).subsystems
    expect(openflow?.differed).toContain('10.1.0.1')
    expect([openflow?.error, openflow && converges(openflow)]).toEqual([null, false])
  })

  it('keeps what a subsystem refused', async () => {
    await pass()
    node.namespace.exec('nft', ['add', 'table', 'inet', 'egretta-odd', '{ flags dormant; }'])
    try {
      const { nftables, openflow } = (await pass()).subsystems
      expect(nftables?.error).toMatch(/./)
      expect(openflow?.error).toBe(null)
    } finally {
      node.namespace.exec('nft', ['delete', 'table', 'inet', 'egretta-odd'])
    }
  })
})
