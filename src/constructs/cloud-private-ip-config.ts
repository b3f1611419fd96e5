import { ApiObject } from 'cdk8s'
import type { Construct } from 'constructs'
import { type Address, addressFault, parseAddress } from '../model/address.js'
import { cloudOf } from '../model/hosting.js'
import type { Outcome } from './outcome.js'

/** Annotation with the name of the EgressIP that an address belongs to. */
const OWNER = 'k8s.ovn.org/egressip-owner-ref'

export interface CloudPrivateIPConfigProps {
  /** IPv4 or IPv6 address. */
  readonly egressIP: string
  /** Name of the node whose cloud instance gets the address. */
  readonly nodeName: string
  /** Name of the EgressIP. */
  readonly owner: string
}

/**
 * What asks a cloud to attach an egress IP to a node (`cloud.network.openshift.io/v1`). There is one for each address, named after
 * it; a move is an update of spec.node.
 */
export class CloudPrivateIPConfig extends ApiObject {
  constructor(scope: Construct, id: string, { egressIP, nodeName, owner }: CloudPrivateIPConfigProps) {
    const address = parseAddress(egressIP)
    super(scope, id, {
      apiVersion: 'cloud.network.openshift.io/v1',
      kind: 'CloudPrivateIPConfig',
      metadata: { name: address ? nameOf(address) : id, annotations: { [OWNER]: owner } },
      spec: { node: nodeName },
    })
    if (!address) this.node.addValidation({ validate: () => [`egressIP: "${egressIP}" is not an address: ${addressFault(egressIP)}`] })
  }
}

/** An object's name cannot hold colons: IPv6 is written with all its digits, and dots. */
function nameOf({ family, value, text }: Address): string {
  if (family === 4) return text
  const digits = value.toString(16).padStart(32, '0')
  return (digits.match(/.{4}/g) as string[]).join('.')
}

/** The addresses that a cloud has to attach: those of the plan on nodes with egress IPs of the cloud. None where ovnkube places. */
export function cloudPrivateIPs({ inputs, placement }: Pick<Outcome, 'inputs' | 'placement'>): readonly CloudPrivateIPConfigProps[] {
  const { topology, cluster } = inputs
  if (cluster.placement === 'advisory') return []
  const onCloud = new Set(topology.nodes.filter((node) => cloudOf(node, topology.facts) !== null).map(({ name }) => name))
  return placement.assignments.flatMap(({ egressIP, object, node }) =>
    node !== null && onCloud.has(node) ? [{ egressIP, nodeName: node, owner: object }] : [],
  )
}
