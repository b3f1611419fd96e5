import { Construct } from 'constructs'
import type { Artefact, BundleManifest } from '../model/bundle.js'
import { bundleManifest, printManifest } from '../model/bundle.js'
import type { Ownership, SubsystemName } from '../model/cluster.js'
import type { ConntrackPolicy } from '../model/node-state.js'

export interface NodeBundleProps {
  /** Name of the node. */
  readonly nodeName: string
  /** Everything the node's host must hold; paths are relative to the bundle. */
  readonly artefacts: readonly Artefact[]
  readonly ownership: Readonly<Partial<Record<SubsystemName, Ownership>>>
  /** What becomes of established flows of a pod that is given another egress IP; absent: their conntrack entries are deleted. */
  readonly conntrack?: ConntrackPolicy
}

const BUNDLE = Symbol.for('egretta.NodeBundle')

/** All files of one node: `nodes/<node>/` of the output folder. No Kubernetes object, so no chart of its own. */
export class NodeBundle extends Construct {
  static isNodeBundle(construct: unknown): construct is NodeBundle {
    return typeof construct === 'object' && construct !== null && BUNDLE in construct
  }

  readonly nodeName: string
  readonly artefacts: readonly Artefact[]
  readonly manifest: BundleManifest

  constructor(scope: Construct, id: string, props: NodeBundleProps) {
    super(scope, id)
    Object.defineProperty(this, BUNDLE, { value: true })
    this.nodeName = props.nodeName
    this.artefacts = props.artefacts
    this.manifest = bundleManifest(props.nodeName, props.artefacts, props.ownership, props.conntrack)
  }

  /** Path below the bundle to text, `bundle.json` among them. */
  get files(): readonly (readonly [path: string, text: string])[] {
    return [...this.artefacts.map(({ path, text }) => [path, text] as const), ['bundle.json', printManifest(this.manifest)]]
  }
}
