import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostAddresses } from '../../src/host/addresses.js'
import type { Exec } from '../../src/host/exec.js'
import { diff } from '../../src/plan/diff.js'
import { describeWith } from '../requires.js'
import { execOn, machine } from './machine.js'
import { addresses, BRIDGE } from './samples.js'

describeWith(['root', 'linux', 'ip'], 'addresses of ours on a host', () => {
  it('are made as egress IPs and masquerade addresses have to be', async () => {
    const host = machine('address', { ovs: false })
    try {
      const subsystem = hostAddresses(execOn(host), join(host.folder, 'addresses.json'))
      await subsystem.apply(diff(subsystem.language, addresses.more, []).changes)
      const lines = host.namespace.exec('ip', ['-o', 'addr', 'show', 'dev', BRIDGE]).stdout.split('\n')
      const of = (address: string) => lines.find((line) => line.includes(` ${address} `))?.replaceAll(/\s+/g, ' ')
      expect(of('192.0.2.50/32')).toContain('192.0.2.50/32 scope global br-ex\\ valid_lft forever preferred_lft forever')
      expect(of('169.254.0.2/17')).toContain('169.254.0.2/17 scope global br-ex\\ valid_lft forever preferred_lft forever')
      expect(of('2001:db8::51/128')).toContain('scope global nodad deprecated \\ valid_lft forever preferred_lft 0sec')
      expect(of('fd69::2/112')).toContain('scope global nodad deprecated \\ valid_lft forever preferred_lft 0sec')
      host.namespace.exec('ip', ['addr', 'change', 'fd69::2/112', 'dev', BRIDGE, 'preferred_lft', '1000'])
      const { own } = await subsystem.observe()
      const { changes } = diff(subsystem.language, addresses.more, own)
      expect(changes.map(({ op, key }) => `${op} ${key}`)).toEqual(['update fd69::2/112 dev br-ex'])
      await subsystem.apply(changes)
      expect(diff(subsystem.language, addresses.more, (await subsystem.observe()).own).changes).toEqual([])
    } finally {
      host.close()
    }
  })
})

/** iproute2 that sets and prints IFA_PROTO, from 6.3 on, is not on this machine. */
describe('the owner of an address (as newer iproute2 prints it; not run against it)', () => {
  let folder: string
  let ran: string[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-'))
    ran = []
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const life = { valid_life_time: 4294967295, preferred_life_time: 4294967295 }
  const exec =
    (version: string, protocols: Readonly<Record<string, string | undefined>> = {}): Exec =>
    async (_, args, options) => {
      if (args[0] === '-V') return { code: 0, stdout: `ip utility, iproute2-${version}\n`, stderr: '' }
      ran.push(...(options?.input ?? '').split('\n').filter(Boolean))
      const addr_info = Object.entries(protocols).map(([local, protocol]) => ({ local, prefixlen: 32, scope: '0', ...life, protocol }))
      return { code: 0, stdout: JSON.stringify([{ ifname: BRIDGE, ifindex: 2, flags: ['UP'], addr_info }]), stderr: '' }
    }
  const state = () => join(folder, 'addresses.json')
  const [wanted] = addresses.some.map((entry) => diff(hostAddresses(exec(''), '').language, [entry], []).changes)

  it.each([
    ['6.1.0, libbpf 1.1.2', false],
    ['6.2.0', false],
    ['6.3.0', true],
    ['6.14.0', true],
    ['7.0.0', true],
    ['ss200127', false],
  ])('is set by iproute2-%s: %s', async (version, sets) => {
    await hostAddresses(exec(version), state()).apply(wanted ?? [])
    expect(ran).toEqual([
      `addr add 192.0.2.50/32 dev br-ex scope global valid_lft forever preferred_lft forever${sets ? ' proto 230' : ''}`,
    ])
  })

  it('decides where it is known, else the state file does', async () => {
    const marking = exec('6.3.0', { '192.0.2.50': undefined, '192.0.2.51': undefined })
    const claim = addresses.more.filter(({ address }) => address.length === 32)
    await hostAddresses(marking, state()).apply(diff(hostAddresses(marking, '').language, claim, []).changes)
    const live = exec('6.3.0', { '192.0.2.50': '85', '192.0.2.51': undefined, '192.0.2.52': '0xe6', '192.0.2.53': undefined })
    const { own, foreign } = await hostAddresses(live, state()).observe()
    const texts = (entries: typeof own) => entries.map(({ address }) => address.address.text)
    expect(texts(own)).toEqual(['192.0.2.51', '192.0.2.52'])
    expect(texts(foreign)).toEqual(['192.0.2.50', '192.0.2.53'])
  })
})
