import { Chart } from 'cdk8s'
import { Construct } from 'constructs'
import type { Placement } from '../model/assignment.js'
import type { Lock } from '../model/lock.js'
import { nextLock } from '../model/lock.js'
import type { Problem } from '../model/problem.js'
import type { SourceFile } from '../model/source.js'
import { EgressApp } from './app.js'
import { CloudPrivateIPConfig, cloudPrivateIPs } from './cloud-private-ip-config.js'
import type { EgressClusterProps } from './cluster-props.js'
import { placementOptions, propFaults } from './cluster-props.js'
import type { Decision } from './egressip.js'
import { decideBelow, EgressIP, EgressIPManifest } from './egressip.js'
import { NodeBundle } from './node-bundle.js'
import type { Outcome } from './outcome.js'
import { outcomeOf } from './outcome.js'
import type { IndexContent } from './synth.js'

export type { EgressClusterProps } from './cluster-props.js'

/**
 * One cluster: its intent, from files and from the EgressIP constructs below it, placed on the nodes of a topology.
 * Problems of intent and topology are never thrown: they stand in `problems`, and what is valid is still rendered.
 * Inputs that do not parse are the exception: their synthesis throws, for half of an intent reads like a removal.
 */
export class EgressCluster extends Chart {
  private answer: { readonly code: string; readonly outcome: Outcome; readonly decisions: ReadonlyMap<string, Decision> } | null = null
  private composed = false

  constructor(
    scope: Construct,
    id: string,
    private readonly props: EgressClusterProps,
  ) {
    super(scope, id)
    decideBelow(this, (name) => this.answered.decisions.get(name) ?? null)
    const app = EgressApp.above(this)
    const adopted = app?.adopt(this)
    const wrong = propFaults(props)
    this.node.addValidation({
      validate: () => [...scopeFaults(app, adopted), ...wrong, ...this.nameFaults(), ...(wrong.length > 0 ? [] : this.clashes())],
    })
  }

  /** Everything that follows from the inputs; `buildPlan` makes a plan of it. Computed anew when an EgressIP was added since. */
  get outcome(): Outcome {
    return this.answered.outcome
  }

  /** Of intent and topology, with the cluster's policy applied, errors first. */
  get problems(): readonly Problem[] {
    return this.outcome.problems
  }

  get placement(): Placement {
    return this.outcome.placement
  }

  /** What to keep beside the intent until the next synthesis (`printLock`). */
  get lock(): Lock {
    const { inputs, placement } = this.outcome
    return nextLock(inputs, placement)
  }

  /** Adds the objects of the intent files and the bundles of the nodes; `EgressApp.synth` calls it. */
  compose(): IndexContent['assignments'] {
    const { inputs, held, after, problems } = this.outcome
    if (this.composed) return held
    if (inputs.unreadable) throw new Error(`nothing was written: ${problems.map(({ message }) => message).join('; ')}`)
    const inCode = new Set(this.declared.map(({ name }) => name))
    const manifests = new Construct(this, '@intent')
    for (const { name, source } of inputs.intent.objects) {
      const { metadata = {}, spec = {} } = source.value as { metadata?: object; spec?: object }
      if (!inCode.has(name)) new EgressIPManifest(manifests, name, name, metadata, spec)
    }
    const nodes = new Construct(this, '@nodes')
    const { ownership, conntrack } = inputs.cluster
    for (const [nodeName, artefacts] of after) new NodeBundle(nodes, nodeName, { nodeName, artefacts, ownership, conntrack })
    const clouds = new Construct(this, '@clouds')
    for (const props of cloudPrivateIPs(this.outcome)) new CloudPrivateIPConfig(clouds, props.egressIP, props)
    this.composed = true
    this.node.lock()
    return held
  }

  private get declared(): readonly EgressIP[] {
    return this.node.findAll().filter(EgressIP.isEgressIP)
  }

  private get answered(): NonNullable<typeof this.answer> {
    if (this.answer && this.composed) return this.answer
    const files = this.declared.map(
      (object): SourceFile => ({ file: object.node.path, text: JSON.stringify(object.declared), role: 'intent' }),
    )
    const code = JSON.stringify(files)
    if (this.answer?.code !== code) {
      const wrong = propFaults(this.props)
      if (wrong.length > 0) throw new TypeError(`[${this.node.path}] ${wrong.join('; ')}`)
      const { intent = [], topology, lock = null, problems = [], options = {}, allowUnassigned = false } = this.props
      const placement = placementOptions(options)
      const outcome = outcomeOf([...intent, ...files, ...topology], lock, problems, { placement, allowUnassigned })
      this.answer = { code, outcome, decisions: decisionsOf(outcome) }
    }
    return this.answer
  }

  /** Objects of code that a file contradicts: they would be written, but never placed. */
  private clashes(): readonly string[] {
    const { declared } = this
    return declared.flatMap(({ name, node }) => {
      if (declared.filter((other) => other.name === name).length > 1) return []
      const clash = this.outcome.inputs.problems.find(({ code, source }) => code === 'DuplicateObject' && source?.file === node.path)
      return clash ? [`${node.path}: ${clash.message}`] : []
    })
  }

  private nameFaults(): readonly string[] {
    const paths = new Map<string, string[]>()
    for (const { name, node } of this.declared) paths.set(name, [...(paths.get(name) ?? []), node.path])
    return [...paths]
      .filter(([, at]) => at.length > 1)
      .map(([name, at]) => `EgressIP "${name}" is declared at ${at.join(' and at ')}; give one another name`)
  }
}

function scopeFaults(app: EgressApp | null, adopted: boolean | undefined): readonly string[] {
  if (!app) return ['an EgressCluster needs an EgressApp at the root of the tree; a plain App would leave out the nodes']
  return adopted ? [] : ['the app has an EgressCluster already; use one EgressApp for each cluster']
}

/** Per object of the intent; empty where something else decides. */
function decisionsOf({ inputs, placement }: Outcome): ReadonlyMap<string, Decision> {
  if (inputs.cluster.placement === 'advisory') return new Map()
  const items = new Map<string, { egressIP: string; node: string }[]>(inputs.intent.objects.map(({ name }) => [name, []]))
  for (const { object, egressIP, node } of placement.assignments) if (node !== null) items.get(object)?.push({ egressIP, node })
  return new Map([...items].map(([name, held]) => [name, { items: held, mark: placement.marks.get(name) ?? null }]))
}
