import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { run } from '../../src/cli/program.js'
import type { Terminal } from '../../src/cli/request.js'

const ROOT = join(import.meta.dirname, '..', '..')
const LOCK = 'egretta.lock.json'
const PLAN = 'plan.txt'

/** A folder with `intent/`, `topology/`, maybe the lock of the last run, and `expected/`: the text plan, what synth writes, the new lock. */
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

/** What `egretta plan` and `egretta synth` make of a scenario, run in this process; the scenario itself stays as it is. */
export async function commandsOn({ folder }: Scenario): Promise<Golden> {
  const before = process.cwd()
  const made = mkdtempSync(join(tmpdir(), 'egretta-scenario-'))
  try {
    // Whoever runs an example leaves a lock there; only a scenario of the tests starts from one.
    const lockBefore = folder.startsWith(join(ROOT, 'examples')) ? [] : [LOCK]
    for (const part of ['intent', 'topology', ...lockBefore])
      if (existsSync(join(folder, part))) cpSync(join(folder, part), join(made, part), { recursive: true })
    process.chdir(made)
    const plan = await command('plan')
    await command('synth')
    const lock = existsSync(LOCK) ? [[LOCK, readFileSync(LOCK, 'utf8')] as const] : []
    return new Map([...filesBelow(join(made, 'out')), ...lock, [PLAN, plan]])
  } finally {
    process.chdir(before)
    rmSync(made, { recursive: true })
  }
}

/** What a command prints as its result; it must not fail, though problems are allowed (exit 3). */
async function command(name: 'plan' | 'synth'): Promise<string> {
  const said = { out: '', err: '' }
  const style = { color: false, width: 120 }
  const terminal: Terminal = {
    out: (text) => {
      said.out += text
    },
    err: (text) => {
      said.err += text
    },
    style,
    errorStyle: style,
  }
  const exit = await run([name], terminal)
  if (exit !== 0 && exit !== 3) throw new Error(`egretta ${name} exits with ${exit}:\n${said.err}`)
  return said.out
}

/** The golden files of a scenario; none when there are none yet. */
export const goldenOf = ({ folder }: Scenario): Golden => filesBelow(join(folder, 'expected'))

/** Makes `expected/` hold exactly these files. */
export function writeGolden({ folder }: Scenario, golden: Golden): void {
  const expected = join(folder, 'expected')
  rmSync(expected, { recursive: true, force: true })
  for (const [path, text] of golden) {
    mkdirSync(dirname(join(expected, path)), { recursive: true })
    writeFileSync(join(expected, path), text)
  }
}

function filesBelow(folder: string): Golden {
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map((entry) => join(entry.parentPath, entry.name)).map((file) => [relative(folder, file), readFileSync(file, 'utf8')]),
  )
}
