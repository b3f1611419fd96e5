import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../house/tree.js'

/** The settings of a systemd unit; a setting may stand several times. */
export type Unit = ReadonlyMap<string, readonly string[]>

/** A unit of the package, by `Section.Setting`. */
export function readUnit(name: string): Unit {
  const unit = new Map<string, string[]>()
  let section = ''
  for (const line of readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8').split('\n')) {
    section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section
    const [, setting, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (setting === undefined) continue
    const key = `${section}.${setting}`
    unit.set(key, [...(unit.get(key) ?? []), value])
  }
  return unit
}

/** Words of all values of a setting. */
export const wordsOf = (unit: Unit, key: string): readonly string[] => (unit.get(key) ?? []).flatMap((value) => value.split(' '))
