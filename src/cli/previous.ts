import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { outcomeOf } from '../constructs/outcome.js'
import { type Problem, problem } from '../model/problem.js'
import { speakersThen } from '../model/speaker.js'
import { NO_OPTIONS } from '../place/place.js'
import { type ObjectsBefore, objectsOf } from '../plan/object-change.js'
import { holdersOf, type Previous } from '../plan/previous.js'
import { type DecidedPlan, isOwnDocument, parsePlan } from '../plan/read.js'
import { DEFAULT_PATHS, type Project, readProject } from './project.js'
import { readText } from './sources.js'

/** What was decided before, and the objects of its intent; null: a plan does not hold them. */
export interface Earlier {
  readonly previous: Previous
  readonly objects: ObjectsBefore | null
}

/**
 * Reads what `--previous` names: a plan that `egretta plan -o json` printed; a folder with `intent/`, `topology/` and maybe a lock; or
 * a PATH whose files are intent and topology at once. Inputs are placed anew, without options. What cannot be read is
 * UnreadableInput. Throws UsageError for a folder that lacks one of the two.
 */
export function readPrevious(path: string): { earlier: Earlier | null; problems: readonly Problem[] } {
  if (isFolder(path)) {
    const both = !['intent', 'topology'].some((role) => existsSync(join(path, role)))
    return decided(path, both ? readProject({ ...DEFAULT_PATHS, both: [path] }) : readProject(DEFAULT_PATHS, path))
  }
  const text = readText(path)
  if (typeof text !== 'string') return { earlier: null, problems: [text] }
  if (text.trim() !== '' && !isOwnDocument(text)) {
    return decided(path, { files: [{ file: path, text, role: 'both' }], problems: [], lock: null })
  }
  const { plan, problems } = parsePlan({ file: path, text, role: 'both' })
  if (!plan) return { earlier: null, problems }
  const { inputDigest, assignments } = plan
  return {
    earlier: { previous: { name: path, inputDigest, holders: holdersOf(assignments), speakers: null, bundles: null }, objects: null },
    problems,
  }
}

/** Reads the plan that `synth --plan` is to write. What is no plan is UnreadableInput. */
export function readPlan(path: string): { plan: DecidedPlan | null; problems: readonly Problem[] } {
  const text = readText(path)
  return typeof text === 'string' ? parsePlan({ file: path, text, role: 'both' }) : { plan: null, problems: [text] }
}

function decided(name: string, { files, problems, lock }: Pick<Project, 'files' | 'problems' | 'lock'>): ReturnType<typeof readPrevious> {
  const { inputs, placement, after } = outcomeOf(files, lock, problems, { placement: NO_OPTIONS, allowUnassigned: false })
  const { intent, topology, digest } = inputs
  if (inputs.unreadable) return { earlier: null, problems: inputs.problems.filter(({ code }) => code === 'UnreadableInput') }
  if (topology.nodes.length === 0 && intent.objects.length + intent.invalid.length === 0) {
    const message = `${name} is no plan, and there is no Node and no EgressIP in it.`
    const remedy = 'Name a file that egretta plan -o json has printed, or a folder with intent/ and topology/.'
    return { earlier: null, problems: [problem('UnreadableInput', { message, remedy, source: { file: name, line: 1, column: 1 } })] }
  }
  const previous = {
    name,
    inputDigest: digest,
    holders: holdersOf(placement.assignments),
    speakers: speakersThen(inputs, placement),
    bundles: after,
  }
  return { earlier: { previous, objects: objectsOf(intent) }, problems: [] }
}

function isFolder(path: string): boolean {
  return path !== '-' && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
}
