import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { egressIPObject, NODES, namespaceObject } from '../constructs/sources.js'

export const LIST = (...items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
export const SHOP = namespaceObject('shop', { env: 'prod' })

/** The EgressIP `eip` as the cluster has it. */
export const held = (address: string, node: string): object =>
  egressIPObject('eip', [address], { status: { items: [{ egressIP: address, node }] } })

/** Makes a folder of its own the current directory; the answer undoes it. */
export function enterFolder(): () => void {
  const before = process.cwd()
  const folder = mkdtempSync(join(tmpdir(), 'egretta-cli-'))
  process.chdir(folder)
  return () => {
    process.chdir(before)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes `intent/` and `topology/` below a folder. */
export function project(intent: readonly object[], topology: readonly object[] = [...NODES, SHOP], folder = '.'): void {
  for (const [role, objects] of [['intent', intent] as const, ['topology', topology] as const]) {
    mkdirSync(join(folder, role), { recursive: true })
    writeFileSync(join(folder, role, 'all.json'), LIST(...objects))
  }
}
