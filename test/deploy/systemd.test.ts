import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../../src/agent/daemon-command.js'
import { ROOT } from '../house/tree.js'
import { readUnit, wordsOf } from './units.js'

const AGENT = 'egretta-agent.service'
const SHUTDOWN = 'egretta-agent-shutdown.service'
const [agent, shutdown] = [readUnit(AGENT), readUnit(SHUTDOWN)]
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0

describe('the units of systemd', () => {
  it.skipIf(!hasAnalyze)('are units that systemd knows every word of', () => {
    const paths = [AGENT, SHUTDOWN].map((name) => join(ROOT, 'deploy/systemd', name))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...paths], {
      encoding: 'utf8',
    })
    expect({ status, said: `${stdout}${stderr}`.split('\n').filter((line) => line.includes('egretta-agent')) }).toEqual({
      status: 0,
      said: [],
    })
  })

  it('start the agent with options that it has', () => {
    const [command = '', name, ...words] = wordsOf(agent, 'Service.ExecStart').slice(1)
    expect([command, name]).toEqual(['egretta-agent', 'run'])
    const known = runCommand(() => '').options.map(({ long }) => long)
    expect(known).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith('--'))))
  })
})

describe('a roll-out of the agent', () => {
  it('leaves a healthy node as it is', () => {
    expect(wordsOf(agent, 'Service.ExecStart').join(' ')).toContain(' --on-term leave ')
    for (const setting of ['ExecStop', 'ExecStopPost', 'ExecReload', 'ExecStartPre'])
      expect(agent.get(`Service.${setting}`)).toBeUndefined()
  })

  it('keeps what the agent knows of the host', () => {
    expect(agent.get('Service.RuntimeDirectory')).toEqual(['egretta'])
    expect(agent.get('Service.RuntimeDirectoryPreserve')).toEqual(['yes'])
  })

  it('neither stops nor starts again the unit that silences', () => {
    expect(shutdown.get('Unit.RefuseManualStop')).toEqual(['yes'])
    for (const bond of ['Requires', 'Requisite', 'BindsTo', 'PartOf', 'Conflicts', 'PropagatesStopTo']) {
      expect([agent.get(`Unit.${bond}`), shutdown.get(`Unit.${bond}`)]).toEqual([undefined, undefined])
    }
  })
})

describe('a host that goes down', () => {
  it('falls silent by a unit that stands until then', () => {
    expect(shutdown.get('Service.ExecStop')).toEqual(['/usr/bin/env egretta-agent shutdown'])
    expect(shutdown.get('Service.RemainAfterExit')).toEqual(['yes'])
    expect(shutdown.get('Unit.DefaultDependencies')).toBeUndefined()
    expect(wordsOf(agent, 'Unit.Wants')).toEqual([SHUTDOWN])
  })

  it('does so before the agent, the network, Open vSwitch and the pods are stopped', () => {
    const after = wordsOf(shutdown, 'Unit.After')
    expect(after).toEqual(
      expect.arrayContaining([AGENT, 'network.target', 'openvswitch-switch.service', 'ovs-vswitchd.service', 'kubelet.service']),
    )
    expect(shutdown.get('Unit.Before')).toBeUndefined()
    expect(wordsOf(agent, 'Unit.After')).not.toContain(SHUTDOWN)
  })
})

describe('the rights of the units', () => {
  it.each([
    ['the agent', agent],
    ['the shutdown', shutdown],
  ])('of %s are two of root', (_name, unit) => {
    expect(wordsOf(unit, 'Service.CapabilityBoundingSet')).toEqual(['CAP_NET_ADMIN', 'CAP_NET_RAW'])
    expect(unit.get('Service.NoNewPrivileges')).toEqual(['yes'])
  })
})
