import type { JsonObject } from './json.js'

/** What the host of a node is like, without what egretta made there. Field by field as `schema/host-facts.json` says. */
export interface HostFacts {
  readonly node: string
  readonly tools: readonly HostTool[]
  /** By name as sysctl(8) writes it; without those that the kernel does not have. */
  readonly sysctls: Readonly<Record<string, number>>
  readonly interfaces: readonly HostInterface[]
  readonly rules: readonly HostRuleFact[]
  readonly routes: readonly HostRouteFact[]
  /** Entries that are not permanent. */
  readonly neighbors: { readonly ipv4: number; readonly ipv6: number }
  readonly configuredAddresses: readonly ConfiguredAddress[]
}

/** A program that is installed. */
export interface HostTool {
  readonly name: string
  readonly version: string | null
}

/** A network device with an address that is not link-local. */
export interface HostInterface {
  readonly name: string
  readonly index: number
  readonly up: boolean
  readonly addresses: readonly HostInterfaceAddress[]
}

export interface HostInterfaceAddress {
  /** With its prefix length. */
  readonly address: string
  readonly scope: string
  readonly label?: string
  readonly secondary?: boolean
  readonly deprecated?: boolean
}

/** A rule of the routing policy that neither the kernel nor egretta made. */
export interface HostRuleFact {
  readonly priority: number
  readonly src: string
  readonly iif?: string
  /** Null for a rule that does anything but look a table up. */
  readonly table: number | null
  /** Whether it asks for more than source and input device. */
  readonly conditional?: boolean
}

/** A route of a table from 1000 on that egretta did not make. */
export interface HostRouteFact {
  readonly family: 'inet' | 'inet6'
  readonly table: number
  readonly dst: string
}

/** An address that a configuration file of interfaces names. */
export interface ConfiguredAddress {
  readonly address: string
  readonly file: string
}

/** `HostFacts` as a Kubernetes object, which `egretta plan` reads. */
export function factsObject({ node, ...spec }: HostFacts): JsonObject {
  return { apiVersion: 'egretta.dev/v1alpha1', kind: 'HostFacts', metadata: { name: node }, spec }
}
