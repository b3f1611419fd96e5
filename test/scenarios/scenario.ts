import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { readSources } from '../../src/cli/sources.js'
import { EgressApp } from '../../src/constructs/app.js'
import { EgressCluster } from '../../src/constructs/cluster.js'
import { parseLock, printLock } from '../../src/model/lock.js'
import type { Role } from '../../src/model/source.js'

const ROOT = join(import.meta.dirname, '..', '..')
const LOCK = 'egretta.lock.json'

/** A folder with `intent/`, `topology/`, maybe the lock of the last run, and `expected/`: what synth writes, the new lock among it. */
export interface Scenario {
  readonly name: string
  readonly folder: string
}

/** Path below `expected/` to text. */
export type Golden = ReadonlyMap<string, string>

/** Every folder here and every example, sorted. */
export function scenarios(): readonly Scenario[] {
  return ['test/scenarios', 'examples'].flatMap((parent) =>
    readdirSync(join(ROOT, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => ({ name: `${parent}/${name}`, folder: join(ROOT, parent, name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
}

/** What synth makes of a scenario, in this process and without writing anything. */
export function synthesise({ folder }: Scenario): Golden {
  const read = (role: Role) => readSources([join(folder, role)], role)
  const [intent, topology] = [read('intent'), read('topology')]
  const app = new EgressApp({ outdir: join(folder, 'out') })
  const cluster = new EgressCluster(app, 'cluster', {
    intent: intent.files,
    topology: topology.files,
    problems: [...intent.problems, ...topology.problems],
    lock: lockOf(folder),
  })
  return new Map([...app.files(), [LOCK, printLock(cluster.lock)]])
}

function lockOf(folder: string) {
  const file = join(folder, LOCK)
  if (!existsSync(file)) return null
  const { lock, problems } = parseLock({ file: LOCK, text: readFileSync(file, 'utf8'), role: 'both' })
  if (problems.length > 0) throw new Error(`${file}: ${problems.map(({ message }) => message).join('; ')}`)
  return lock
}

/** The golden files of a scenario; none when there are none yet. */
export function goldenOf({ folder }: Scenario): Golden {
  const expected = join(folder, 'expected')
  if (!existsSync(expected)) return new Map()
  const files = readdirSync(expected, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map((entry) => join(entry.parentPath, entry.name)).map((file) => [relative(expected, file), readFileSync(file, 'utf8')]),
  )
}

/** Makes `expected/` hold exactly these files. */
export function writeGolden({ folder }: Scenario, golden: Golden): void {
  const expected = join(folder, 'expected')
  rmSync(expected, { recursive: true, force: true })
  for (const [path, text] of golden) {
    mkdirSync(dirname(join(expected, path)), { recursive: true })
    writeFileSync(join(expected, path), text)
  }
}
