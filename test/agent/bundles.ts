import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, hardwareAddress, parseAddress, parsePrefix } from '../../src/model/address.js'
import { type Artefact, bundleManifest, type Phase, printManifest } from '../../src/model/bundle.js'
import type { Ownership, SubsystemName } from '../../src/model/cluster.js'
import { OWN_COOKIE } from '../../src/model/numbers.js'
import { addresses, type HostAddress } from '../../src/syntax/addresses.js'
import { guardFlows, guardTable } from '../../src/syntax/guard.js'
import { neighbors } from '../../src/syntax/neighbors.js'
import { nftables } from '../../src/syntax/nftables.js'
import { flow, openflow } from '../../src/syntax/openflow.js'

export const NODE = 'node-a'
export const BRIDGE = 'br-ex'
export const DEVICE = 'ens3'
export const NODE_ADDRESSES = ['192.0.2.11', '2001:db8::11']

const ip = (text: string): Address => {
  const address = parseAddress(text)
  if (!address) throw new Error(text)
  return address
}

/** What a bundle of the tests holds; everything has a usual value. */
export interface Content {
  readonly node?: string
  readonly egress?: readonly string[]
  readonly masquerade?: readonly string[]
  /** Addresses that the node may announce. */
  readonly own?: readonly string[]
  readonly device?: string
  /** Number of flows of the base. */
  readonly flows?: number
  readonly ownership?: Partial<Record<SubsystemName, Ownership>>
}

const ALWAYS: readonly Phase[] = ['steady', 'startup', 'shutdown']

/** The files of a bundle as `render` writes them, and base flows as a later `render` will. */
export function artefacts(content: Content = {}): readonly Artefact[] {
  const {
    egress = ['192.0.2.50', '2001:db8::50'],
    masquerade = ['169.254.0.1', 'fd69::1'],
    own = NODE_ADDRESSES,
    device = DEVICE,
    flows = 0,
  } = content
  const held = egress.map((text): HostAddress => {
    const address = ip(text)
    return {
      address: parsePrefix(`${text}/${address.family === 4 ? 32 : 128}`) as HostAddress['address'],
      dev: BRIDGE,
      for: 'EgressIP/eip-a',
    }
  })
  const permanent = masquerade.map((text) => ({ dst: ip(text), lladdr: hardwareAddress(ip(text)), dev: BRIDGE, for: `Node/${NODE}` }))
  const silenced = egress.map((text) => ({ address: ip(text), for: 'EgressIP/eip-a' }))
  const base = Array.from({ length: flows }, (_, index) =>
    flow({
      bridge: BRIDGE,
      table: 9,
      priority: 1 + index,
      cookie: OWN_COOKIE + 1n,
      match: `ip,nw_dst=10.1.${index >> 8}.${index & 255}`,
      actions: 'drop',
    }),
  )
  return [
    { path: 'addresses.json', text: addresses.print(held), phases: ALWAYS },
    { path: 'neighbors.json', text: neighbors.print(permanent), phases: ALWAYS },
    ...(flows > 0 ? [{ path: `openflow.${BRIDGE}.flows`, text: openflow(BRIDGE).print(base), phases: ALWAYS }] : []),
    {
      path: `guard.openflow.${BRIDGE}.flows`,
      text: openflow(BRIDGE).print(guardFlows(BRIDGE, NODE, own.map(ip), ['default'])),
      phases: ['startup', 'shutdown'],
    },
    { path: 'guard.nftables.json', text: nftables.print(guardTable(silenced, device, '1.0.6')), phases: ['shutdown'] },
  ]
}

/** Writes a bundle with a right manifest into a folder, emptied before. Returns the folder. */
export function writeBundle(folder: string, content: Content = {}, files = artefacts(content)): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { path, text } of files) writeFileSync(join(folder, path), text)
  writeFileSync(join(folder, 'bundle.json'), printManifest(bundleManifest(content.node ?? NODE, files, content.ownership ?? {})))
  return folder
}

/** The files of a bundle with one of them replaced or added. */
export const withFile = (files: readonly Artefact[], file: Artefact): readonly Artefact[] => [
  ...files.filter(({ path }) => path !== file.path),
  file,
]
