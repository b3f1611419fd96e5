import type { Family } from '../model/address.js'
import { type Exec, failure } from './exec.js'

/** What iproute2 lists and changes by family: rules and routes. */
export const FAMILIES: readonly Family[] = [4, 6]

export const familyOption = (family: Family): string => `-${family}`

/** What ip lists of a family, with numbers for all names; nothing where the kernel does not have the family. */
export async function readFamily(exec: Exec, family: Family, words: readonly string[]): Promise<readonly unknown[]> {
  const args = [familyOption(family), '-N', '-d', '-j', ...words]
  const outcome = await exec('ip', args)
  const absent = outcome.code !== 0 && /not supported/.test(outcome.stderr)
  if (outcome.code !== 0 && !absent) throw failure('ip', args, outcome)
  return JSON.parse((!absent && outcome.stdout) || '[]') as readonly unknown[]
}

/** RT_TABLE_MAIN, whatever /etc/iproute2/rt_tables calls it. */
const MAIN = '254'

/** A table by the name that egretta gives it: `main`, or its number. */
export const tableName = (number: string): string => (number === MAIN ? 'main' : number)
