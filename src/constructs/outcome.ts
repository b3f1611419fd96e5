import { compile, type Held, recompile, type Speaking } from '../compile/index.js'
import { compareAddresses, parseAddress } from '../model/address.js'
import type { Placement, PlacementOptions } from '../model/assignment.js'
import type { Artefact } from '../model/bundle.js'
import type { Inputs } from '../model/inputs.js'
import { readInputs } from '../model/inputs.js'
import type { Lock } from '../model/lock.js'
import { marksNow, marksThen } from '../model/mark.js'
import type { NodeState } from '../model/node-state.js'
import { applyPolicy } from '../model/policy.js'
import type { Problem } from '../model/problem.js'
import type { SourceFile } from '../model/source.js'
import { speakersNow, speakersSoon, speakersThen } from '../model/speaker.js'
import { place } from '../place/place.js'
import { render } from '../render/index.js'

/** Node to its rendered files, for every node with a parsable l3-gateway-config, sorted by name. */
export type Bundles = ReadonlyMap<string, readonly Artefact[]>

/** What inputs lead to: who gets which address, and what every host holds now and then. */
export interface Outcome {
  readonly inputs: Inputs
  /** What `placement` was made with. */
  readonly options: PlacementOptions
  readonly placement: Placement
  /** What `after` is rendered from, sorted by object and address. Where placement is advisory: what the status says. */
  readonly held: readonly Held[]
  readonly before: Bundles
  readonly after: Bundles
  /** Of all steps, with the policy of the cluster applied, sorted. */
  readonly problems: readonly Problem[]
}

export interface OutcomeOptions {
  readonly placement: PlacementOptions
  readonly allowUnassigned: boolean
  /** Is told each step that takes time, before it begins. */
  readonly tell?: (step: string) => void
}

const NOTHING: Placement = { assignments: [], unassigned: [], marks: new Map(), optimalityGap: 0, problems: [] }

/**
 * Reads the inputs, places the addresses and renders every node. Pure: the same files in any order give the same outcome.
 * Inputs of which a file does not parse are placed nowhere: half of an intent would look like a removal of the rest.
 */
export function outcomeOf(files: readonly SourceFile[], lock: Lock | null, earlier: readonly Problem[], options: OutcomeOptions): Outcome {
  options.tell?.(`reading ${counted(files.length, 'file')}`)
  const inputs = readInputs(files, lock, earlier)
  if (inputs.unreadable) {
    // The policy may stand in the file that does not parse, and must not hide why the command fails.
    const problems = applyPolicy(inputs.problems, { severities: {}, allowUnassigned: false })
    return { inputs, options: options.placement, placement: NOTHING, held: [], before: new Map(), after: new Map(), problems }
  }
  const policy = { severities: inputs.cluster.policy, allowUnassigned: options.allowUnassigned }
  const { intent, topology } = inputs
  options.tell?.(`placing the addresses of ${counted(intent.objects.length, 'EgressIP')} on ${counted(topology.nodes.length, 'node')}`)
  const placement = place(inputs, options.placement)
  options.tell?.(`rendering ${counted(topology.nodes.length, 'node')}`)
  const now = standingNow(inputs)
  const then = standingThen(inputs, placement)
  const { held, speaking } = then
  const compiled = compile(inputs, held, speaking)
  const problems = applyPolicy([...inputs.problems, ...placement.problems, ...compiled.problems], policy)
  const after = bundlesOf(compiled.states)
  return {
    inputs,
    options: options.placement,
    placement,
    held,
    before: bundlesOf(recompile(inputs, now, { ...then, states: compiled.states }), { states: compiled.states, bundles: after }),
    after,
    problems,
  }
}

/** What every host holds at the current assignment. */
export function bundlesNow(inputs: Inputs): Bundles {
  const { held, speaking } = standingNow(inputs)
  return bundlesOf(compile(inputs, held, speaking).states)
}

/** Where every egress IP is, and for whom its object speaks. */
interface Standing {
  readonly held: readonly Held[]
  readonly speaking: Speaking
}

const standingNow = (inputs: Inputs): Standing => ({
  held: heldNow(inputs),
  speaking: { speakers: speakersNow(inputs), marks: marksNow(inputs) },
})

/** Where the cluster decides, what the intent changes at once is whom an object selects; addresses and marks come from the cluster. */
function standingThen(inputs: Inputs, placement: Placement): Standing {
  if (inputs.cluster.placement === 'advisory') {
    return { held: heldNow(inputs), speaking: { speakers: speakersSoon(inputs), marks: marksNow(inputs) } }
  }
  return {
    held: heldThen(inputs, placement),
    speaking: { speakers: speakersThen(inputs, placement), marks: marksThen(inputs, placement.marks) },
  }
}

/** Renders every state; one of which another of the same node is among `known` takes from there what is the same. */
function bundlesOf(states: readonly NodeState[], known?: { readonly states: readonly NodeState[]; readonly bundles: Bundles }): Bundles {
  const rendered = new Map(known?.states.map((state) => [state.node, state]))
  return new Map(
    states.map((state) => {
      const [other, files] = [rendered.get(state.node), known?.bundles.get(state.node)]
      if (!other || !files) return [state.node, render(state)]
      return [state.node, state === other ? files : render(state, { state: other, files })]
    }),
  )
}

function heldNow(inputs: Inputs): readonly Held[] {
  return sorted([...foreignHeld(inputs), ...[...inputs.current].flatMap(([object, nodes]) => heldBy(object, nodes))])
}

function heldThen(inputs: Inputs, placement: Placement): readonly Held[] {
  const placed = placement.assignments.flatMap(({ egressIP, object, node }) => (node === null ? [] : [{ egressIP, object, node }]))
  const taken = new Set(placed.map(({ egressIP }) => egressIP))
  return sorted([...foreignHeld(inputs).filter(({ egressIP }) => !taken.has(egressIP)), ...placed])
}

const foreignHeld = (inputs: Inputs): readonly Held[] => inputs.intent.foreign.flatMap(({ name, status }) => heldBy(name, status))

const heldBy = (object: string, nodes: ReadonlyMap<string, string>): readonly Held[] =>
  [...nodes].map(([egressIP, node]) => ({ egressIP, object, node }))

/** Each pair of object and address once, by object, then IPv4 before IPv6, then value. */
function sorted(held: readonly Held[]): readonly Held[] {
  const each = [...new Map(held.map((one) => [JSON.stringify([one.object, one.egressIP]), one])).values()]
  const keyed = each.flatMap((one) => {
    const address = parseAddress(one.egressIP)
    return address ? [{ one, address }] : []
  })
  keyed.sort((a, b) => order(a.one.object, b.one.object) || compareAddresses(a.address, b.address))
  return keyed.map(({ one }) => one)
}

const counted = (count: number, noun: string): string => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
