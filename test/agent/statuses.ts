import type { Digests, Seen, SeenSubsystem } from '../../src/agent/seen.js'
import { type AgentStatus, noStatus, type PassEnd, type PassReport, recordPass } from '../../src/agent/status.js'
import type { SubsystemName } from '../../src/model/cluster.js'

/** A subsystem that holds what it is asked for, unless its digests say otherwise. */
export const holds = ({ desired = 'aa', observed = desired, ...over }: Partial<SeenSubsystem & Digests> = {}): SeenSubsystem => ({
  ownership: 'manage',
  entries: 1,
  differed: null,
  error: null,
  digests: () => ({ desired, observed }),
  ...over,
})

const NAMES: readonly SubsystemName[] = ['nftables', 'openflow', 'neighbors', 'addresses', 'routes', 'rules']

/** What a pass saw: everything holds, but for what is said. */
export const seen = (over: Partial<Record<SubsystemName, SeenSubsystem>> = {}, held: Seen['held'] = []): Seen => ({
  subsystems: { ...(Object.fromEntries(NAMES.map((name) => [name, holds()])) as Record<SubsystemName, SeenSubsystem>), ...over },
  held,
})

export const report = (over: Partial<PassReport> = {}): PassReport => ({
  node: 'node-a',
  phase: 'steady',
  changes: [],
  pending: [],
  problems: [],
  exitCode: 0,
  seen: seen(),
  ...over,
})

const START = Date.parse('2026-01-01T00:00:00Z')
/** The time so many seconds after the tests began. */
export const at = (seconds: number): Date => new Date(START + seconds * 1000)

export const end = (seconds: number, over: Partial<PassEnd> = {}): PassEnd => ({
  time: at(seconds),
  seconds: 0.25,
  bundle: { digest: 'd1', source: '/bundles', revision: null },
  events: [],
  ...over,
})

export const EMPTY: AgentStatus = noStatus('node-a', '1.2.3', 'startup')
/** A node on which everything is in place. */
export const READY: AgentStatus = recordPass(EMPTY, report(), end(0))
