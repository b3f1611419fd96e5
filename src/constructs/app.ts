import type { AppProps } from 'cdk8s'
import { ApiObject, App, Yaml } from 'cdk8s'
import type { IConstruct } from 'constructs'
import { sha256 } from '../model/bundle.js'
import { NodeBundle } from './node-bundle.js'
import type { FileTree, IndexContent } from './synth.js'
import { printIndex, writeTree } from './synth.js'

/** A construct that decides its children when all others are declared: an EgressCluster. */
export interface Composing extends IConstruct {
  /** Adds the children; called again it changes nothing. Returns who holds which address. */
  compose(): IndexContent['assignments']
}

export type EgressAppProps = Pick<AppProps, 'outdir' | 'resolvers'>

/** What `EgressApp.render` makes of the constructs, before anything is written. */
interface Rendered {
  readonly files: FileTree
  readonly index: IndexContent
}

/**
 * A cdk8s App that writes the whole of `out/`: a manifest per Kubernetes object of any chart, a bundle per node, and
 * `index.json`. Synthesis throws once, with every fault of the app's own code and its construct path, before it writes.
 */
export class EgressApp extends App {
  private cluster: Composing | null = null

  /** The folder is `outdir`, else CDK8S_OUTDIR (set by `cdk8s synth`), else `out`. */
  constructor(props: EgressAppProps = {}) {
    super({ ...props, outdir: props.outdir ?? process.env.CDK8S_OUTDIR ?? 'out' })
  }

  /** The app above a construct, if it is an EgressApp. */
  static above(construct: IConstruct): EgressApp | null {
    const root = construct.node.root
    return root instanceof EgressApp ? root : null
  }

  /** Makes the cluster part of the output; false when the app has another one already. */
  adopt(cluster: Composing): boolean {
    this.cluster ??= cluster
    return this.cluster === cluster
  }

  /** Path below the output folder to text: what `synth` writes, `index.json` among them. */
  files(): FileTree {
    const { files, index } = this.render()
    return new Map([...files, ['index.json', printIndex(index, files)]])
  }

  override synth(): void {
    const { files, index } = this.render()
    writeTree(this.outdir, files, index)
  }

  private render(): Rendered {
    this.validate()
    const assignments = this.cluster?.compose() ?? []
    const constructs = this.node.findAll()
    const bundles = constructs.filter(NodeBundle.isNodeBundle)
    const manifests = constructs.filter(ApiObject.isApiObject).map((object) => [object, manifestPath(object)] as const)
    refuseClashes(manifests)
    const files = [
      ...manifests.map(([object, path]) => [path, Yaml.stringify(object.toJson())] as const),
      ...bundles.flatMap((bundle) => bundle.files.map(([path, text]) => [`nodes/${fileName(bundle.nodeName)}/${path}`, text] as const)),
    ]
    const nodes = Object.fromEntries(bundles.map((bundle) => [bundle.nodeName, bundle.manifest.digest]))
    return { files: new Map(files.sort(([a], [b]) => (a < b ? -1 : 1))), index: { assignments, nodes } }
  }

  private validate(): void {
    const faults = this.node.findAll().flatMap(({ node }) => node.validate().map((fault) => `[${node.path}] ${fault}`))
    if (faults.length > 0) throw new Error(`Validation failed with the following errors:\n  ${faults.join('\n  ')}`)
  }
}

/** `EgressIP.eip-a.yaml`, with the namespace between kind and name where there is one. */
function manifestPath(object: ApiObject): string {
  const parts = [object.kind, object.metadata.namespace, object.name].filter((part) => part !== undefined)
  const name = parts.map(fileName).join('.')
  return `manifests/${name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 65)}.${sha256(name)}`}.yaml`
}

/** A file name has at most 255 bytes, of which the ending takes five; the name of an object alone may have 253. */
const LONGEST_NAME = 250

/** Names of some kinds may hold characters that a path must not; a name of dots alone would leave its folder. */
const fileName = (name: string): string => encodeURIComponent(name).replace(/^\./, '%2E')

function refuseClashes(manifests: readonly (readonly [ApiObject, string])[]): void {
  const first = new Map<string, ApiObject>()
  const faults: string[] = []
  for (const [object, path] of manifests) {
    const other = first.get(path)
    if (other)
      faults.push(`[${object.node.path}] is written to ${path}, and so is [${other.node.path}]; give one of them another metadata.name`)
    else first.set(path, object)
  }
  if (faults.length > 0) throw new Error(`Validation failed with the following errors:\n  ${faults.join('\n  ')}`)
}
