import { isSingle } from '../host/addresses.js'
import { announce } from '../host/announce.js'
import type { Exec } from '../host/exec.js'
import type { LiveAddress } from '../host/links.js'
import { type Claim, clock, probe } from '../host/probe.js'
import { resolveNft } from '../host/resolve.js'
import { isMissing } from '../host/symbols.js'
import { wireOf } from '../host/wire.js'
import type { Address } from '../model/address.js'
import { type Problem, problem } from '../model/problem.js'
import { type Bundle, entriesFor } from './bundle.js'
import { type Entries, NO_ENTRIES } from './entries.js'
import { ownershipOf, type Withheld } from './lifecycle.js'
import { type Moves, NO_MOVES, readMoves, writeMoves } from './moves.js'
import { quietTables } from './quiet.js'
import { faultProblem, type Goal } from './reconcile.js'
import type { Sight } from './sight.js'

/** An egress IP that an operator moves by hand: to give it back though the bundle has it, or to take it again. */
export interface Move {
  readonly verb: 'release' | 'claim'
  /** As written by whoever asks for it. */
  readonly address: string
}

/** Addresses that came, and those that are still at another node. */
export interface Handover {
  /** They were announced once. */
  readonly claimed: readonly Claim[]
  readonly waiting: readonly Claim[]
  /** When, by the clock of the host, the first of those is claimed though it is still answered for. */
  readonly due: number
}

/** Seconds for which an address is left to another station that answers for it. */
export const CLAIM_AFTER = 30

const heldIn = (bundle: Bundle): ReadonlySet<string> =>
  new Set(entriesFor(bundle, 'steady', false).addresses.flatMap(({ address }) => (isSingle(address) ? address.address.text : [])))

/** What was noted about moves, with a new one, as far as it concerns the bundle; a problem where the bundle does not have the address. */
function moved({ waiting, released }: Moves, bundle: Bundle, move: Move | undefined): Moves | Problem {
  const held = heldIn(bundle)
  if (move && !held.has(move.address)) {
    return problem('UnknownEgressIP', {
      message: `the bundle of ${bundle.manifest.node} has no egress IP ${move.address}; nothing was changed`,
    })
  }
  const given = new Set([...released, ...(move?.verb === 'release' ? [move.address] : [])].filter((text) => held.has(text)))
  if (move?.verb === 'claim') given.delete(move.address)
  return { released: given, waiting: new Map([...waiting].filter(([text]) => held.has(text) && !given.has(text))) }
}

/** What was noted about moves. One by hand is noted before anything is done about it: whoever asked for it must not find it forgotten. */
export function notedMoves(
  { command, stateDir, move }: { readonly command: 'diff' | 'apply'; readonly stateDir: string; readonly move?: Move },
  bundle: Bundle,
  mayWrite: boolean,
): { readonly moves: Moves; readonly problems: readonly Problem[] } {
  try {
    const moves = moved(readMoves(stateDir), bundle, move)
    if (!('released' in moves)) return { moves: NO_MOVES, problems: [moves] }
    if (command === 'apply' && mayWrite) writeMoves(stateDir, moves)
    return { moves, problems: [] }
  } catch (error) {
    return { moves: NO_MOVES, problems: [faultProblem(error)] }
  }
}

/** The addresses that a pass leaves out: those that were given back, and those at another station. */
export function withheldBy(bundle: Bundle, { released }: Moves, answered: ReadonlyMap<string, string>): Withheld {
  const given = entriesFor(bundle, 'steady', false).addresses.flatMap(({ address: { address } }) =>
    released.has(address.text) ? address : [],
  )
  return {
    reasons: new Map([
      ...[...released].map((text) => [text, `the node gave it back; egretta-agent claim ${text} takes it again`] as const),
      ...[...answered].map(([text, mac]) => [text, `another station, ${mac}, answers for it`] as const),
    ]),
    released: given,
  }
}

/** What a pass finds out before it claims addresses. */
export interface Turn {
  /** To be announced once the pass has added them. */
  readonly claims: readonly Claim[]
  /** For these another station answers; `answered` has its MAC by address. */
  readonly waiting: readonly Claim[]
  readonly answered: ReadonlyMap<string, string>
  /** Since when, by address. */
  readonly since: ReadonlyMap<string, number>
  readonly problems: readonly Problem[]
}

export const NO_TURN: Turn = { claims: [], waiting: [], answered: new Map(), since: new Map(), problems: [] }

/**
 * Asks on their wires for the egress IPs that the goal brings to this host, and decides which it may claim now: those for which nobody answers,
 * and those that were answered for `claimAfter` seconds already. Where nobody can be asked, they are claimed and a warning says so; an
 * address whose wire is not there waits for nobody, because what else waits for the wire is pending. `unsilence` takes addresses out of our
 * own guard, which would swallow the question. Never throws for what the host is like.
 */
export async function takeTurn(
  exec: Exec,
  rundir: string,
  bundle: Bundle,
  { view, knowledge }: Pick<Sight, 'view' | 'knowledge'>,
  goal: Goal,
  noted: Moves['waiting'],
  claimAfter: number,
  unsilence: (addresses: readonly Address[]) => Promise<readonly Problem[]>,
): Promise<Turn> {
  if (ownershipOf(bundle, 'addresses') !== 'manage') return NO_TURN
  const here = new Set(view.addresses.map(({ address }) => address.address.text))
  const coming = goal.entries.addresses.filter(({ address }) => isSingle(address) && !here.has(address.address.text))
  if (coming.length === 0) return NO_TURN
  const claims: Claim[] = []
  const problems: Problem[] = []
  let answers: ReadonlyMap<string, string> = new Map()
  try {
    for (const dev of new Set(coming.map((entry) => entry.dev))) {
      const wire = await wireOf(exec, rundir, view, dev, vlanOf(goal, dev))
      if (!isMissing(wire))
        claims.push(...coming.flatMap(({ address, dev: on }) => (on === dev ? [{ address: address.address, wire }] : [])))
    }
    if (claims.length === 0) return NO_TURN
    const guarded = new Set([...knowledge.silenced, ...knowledge.secondary.silenced].map(({ address }) => address.text))
    const silenced = claims.flatMap(({ address }) => (guarded.has(address.text) ? address : []))
    if (silenced.length > 0) problems.push(...(await unsilence(silenced)))
    if (ownershipOf(bundle, 'nftables') === 'manage') answers = await probe(exec, claims)
    else problems.push(notProbed(claims, 'the agent hears who answers by nftables, which the bundle does not let it manage'))
  } catch (error) {
    problems.push(notProbed(claims, faultProblem(error).message))
  }
  const now = clock()
  const start = (text: string) => noted.get(text) ?? now
  const isWaiting = ({ address: { text } }: Claim) => answers.has(text) && now - start(text) < claimAfter
  const [waiting, due] = [claims.filter(isWaiting), claims.filter((claim) => !isWaiting(claim))]
  const late = due.flatMap(({ address: { text } }) => (answers.has(text) ? stillAnswered(text, answers.get(text), now - start(text)) : []))
  const of = <V>(value: (text: string) => V) => new Map(waiting.map(({ address: { text } }) => [text, value(text)] as const))
  return { claims: due, waiting, answered: of((text) => answers.get(text) ?? ''), since: of(start), problems: [...problems, ...late] }
}

const stillAnswered = (address: string, mac: string | undefined, seconds: number): Problem =>
  problem('AddressStillAnswered', {
    message: `another station, ${mac}, still answers for ${address} after ${Math.round(seconds)} seconds; this node claims it all the same`,
    remedy: `Find the station. If it is a node that had the address before, run there: egretta-agent release ${address}`,
  })

const notProbed = (claims: readonly Claim[], why: string): Problem => {
  const [first, ...others] = claims.map(({ address }) => address.text)
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return problem('AddressNotProbed', { message: `nobody was asked who has ${first}${more} before this node claims it: ${why}` })
}

/** The gateway VLAN of a bridge: the tag that its flows match, also those that wait for a port. */
export const vlanOf = ({ entries, awaited }: Goal, bridge: string): number =>
  Number(
    [...entries.openflow, ...awaited]
      .flatMap((entry) => ('match' in entry && entry.bridge === bridge ? entry.match : []))
      .find(([field]) => field === 'dl_vlan')?.[1] ?? 0,
  )

/** Egress IPs of ours that the goal takes from this host. */
export function leaving(bundle: Bundle, { view, knowledge }: Pick<Sight, 'view' | 'knowledge'>, goal: Goal): readonly LiveAddress[] {
  if (ownershipOf(bundle, 'addresses') !== 'manage') return []
  const stays = new Set(
    [...goal.entries.addresses, ...goal.awaited].flatMap((entry) => ('address' in entry ? entry.address.address.text : [])),
  )
  return view.addresses.filter(
    ({ address: prefix }) => isSingle(prefix) && knowledge.marked.has(prefix.address.text) && !stays.has(prefix.address.text),
  )
}

/**
 * The guard while a pass takes addresses from this host: of these, of what it silences already, and not of `spoken`. A node silences an address
 * before it takes its entries apart, so that it speaks for it no more when another node claims it.
 */
export function quietGuard(
  bundle: Bundle,
  { view, knowledge }: Pick<Sight, 'view' | 'knowledge'>,
  going: readonly LiveAddress[],
  spoken: readonly Address[] = [],
): Entries {
  const without = new Set(spoken.map(({ text }) => text))
  const silenced = [...knowledge.silenced, ...knowledge.secondary.silenced, ...going.map(({ address }) => address)]
  const devices = [...knowledge.secondary.devices, ...going.map(({ dev }) => dev)]
  const addresses = silenced.flatMap(({ address }) => (without.has(address.text) ? [] : address))
  const present = devices.filter((dev) => view.links.some(({ name }) => name === dev))
  return { ...NO_ENTRIES, nftables: resolveNft(quietTables(bundle, view, knowledge, addresses, present), view).entries }
}

/** Says that the addresses are here now; a problem where that fails. */
export async function announceAll(exec: Exec, claims: readonly Claim[], say = announce): Promise<readonly Problem[]> {
  if (claims.length === 0) return []
  try {
    await say(exec, claims)
    return []
  } catch (error) {
    const { message, remedy } = faultProblem(error)
    return [problem('AddressNotAnnounced', { message: `the addresses that came were not announced: ${message}`, remedy })]
  }
}
