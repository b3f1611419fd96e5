import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DriftEvent, ipEvents, nftReader } from '../../src/host/drift.js'
import { describeWith } from '../requires.js'
import { type Machine, machine } from './machine.js'
import { DEVICE } from './samples.js'

describeWith(['root', 'linux', 'ip', 'nft'], 'the monitors of this machine', () => {
  let host: Machine
  const children: ChildProcess[] = []
  beforeAll(() => {
    host = machine('drift', { ovs: false })
  })
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL')
    host?.close()
  })

  /** Collects what a monitor says, once it says something of `probe`, which is done until then. */
  async function watch(command: readonly string[], probe: () => void, events: (line: string) => readonly (DriftEvent | null)[]) {
    const [program = '', ...args] = command
    const child = host.namespace.spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    children.push(child)
    const seen: DriftEvent[] = []
    let heard = false
    if (!child.stdout) throw new Error('no output')
    createInterface({ input: child.stdout }).on('line', (line) => {
      heard = true
      seen.push(...events(line).filter((event) => event !== null))
    })
    for (let tries = 0; !heard && tries < 100; tries++) {
      probe()
      await sleep(50)
    }
    return async (wanted: string) => {
      for (let tries = 0; tries < 100 && !seen.some(({ who }) => who.includes(wanted)); tries++) await sleep(50)
      return seen.filter(({ who }) => who.includes(wanted)).map(({ subsystem, source, who }) => [subsystem, source, who])
    }
  }

  it('name the process that flushed our table', async () => {
    const nft = (...words: readonly string[]) => host.namespace.exec('nft', words)
    nft('add', 'table', 'inet', 'egretta')
    const reader = nftReader()
    const saw = await watch(
      ['nft', 'monitor'],
      () => nft('add', 'table', 'inet', 'other'),
      (line) => [reader.read(line)],
    )
    const flush = host.namespace.spawn('nft', ['flush', 'ruleset'])
    expect(await saw('egretta')).toEqual([['nftables', 'nftables', `process ${flush.pid} (nft) changed table inet egretta`]])
  })

  it('say what of ours the kernel lost', async () => {
    const ip = (...words: readonly string[]) => host.namespace.exec('ip', words)
    const monitor = ['ip', '-N', '-o', 'monitor', 'link', 'address', 'route', 'neigh', 'rule']
    const saw = await watch(monitor, () => ip('link', 'set', 'lo', 'mtu', String(65_000 + Math.floor(Math.random() * 500))), ipEvents)
    ip('neigh', 'add', '192.0.2.9', 'lladdr', '02:00:00:00:00:01', 'dev', DEVICE, 'nud', 'permanent', 'protocol', '230')
    ip('neigh', 'flush', 'dev', DEVICE, 'nud', 'permanent')
    ip('rule', 'add', 'from', '10.0.0.5', 'table', '1007', 'priority', '6000', 'protocol', '230')
    ip('rule', 'delete', 'priority', '6000')
    ip('addr', 'add', '192.0.2.50/32', 'dev', DEVICE)
    ip('link', 'delete', DEVICE)
    expect(await saw(`neighbor 192.0.2.9 dev ${DEVICE}`)).toMatchObject([['neighbors', 'kernel', expect.any(String)]])
    expect(await saw('rule 6000:')).toMatchObject([['rules', 'kernel', expect.stringContaining('from 10.0.0.5 lookup 1007')]])
    expect(await saw('address 192.0.2.50/32')).toMatchObject([['addresses', 'kernel', expect.any(String)]])
    expect(await saw(`interface ${DEVICE} was deleted`)).toHaveLength(5)
  })
})
