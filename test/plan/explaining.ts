import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect } from 'vitest'
import { outcomeOf } from '../../src/constructs/outcome.js'
import type { PlacementOptions } from '../../src/model/assignment.js'
import type { Lock } from '../../src/model/lock.js'
import type { SourceFile } from '../../src/model/source.js'
import { NO_OPTIONS } from '../../src/place/place.js'
import { verdictsOn } from '../../src/place/verdict.js'
import { explain } from '../../src/plan/explain.js'
import type { Explanation, QuestionKind } from '../../src/plan/explanation.js'

const schema = (name: string) => JSON.parse(readFileSync(new URL(`../../schema/${name}.json`, import.meta.url), 'utf8'))
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).addSchema(schema('plan')).compile(schema('explanation'))

export interface Asking {
  readonly lock?: Lock | null
  readonly options?: Partial<PlacementOptions>
}

function answerTo(kind: QuestionKind, name: string, files: readonly SourceFile[], { lock = null, options = {} }: Asking) {
  const placing = { ...NO_OPTIONS, ...options }
  const outcome = outcomeOf(files, lock, [], { placement: placing, allowUnassigned: false })
  const verdicts = verdictsOn(outcome.inputs, placing, outcome.placement)
  return explain({ kind, name }, { ...outcome, options: placing, verdicts })
}

/** The explanation, which must be what the published schema says. */
export function asked(kind: QuestionKind, name: string, files: readonly SourceFile[], asking: Asking = {}): Explanation {
  const found = answerTo(kind, name, files, asking)
  if ('unknown' in found) throw new Error(found.unknown)
  expect(validate(JSON.parse(JSON.stringify(found))), JSON.stringify(validate.errors)).toBe(true)
  return found
}

/** What is said of a subject that the inputs do not have. */
export function unknown(kind: QuestionKind, name: string, files: readonly SourceFile[]): string {
  const found = answerTo(kind, name, files, {})
  if (!('unknown' in found)) throw new Error(`${name} is known`)
  return found.unknown
}

/** All in one file that is intent and topology at once. */
export const dump = (...objects: readonly object[]): readonly SourceFile[] => [
  { file: 'dump.json', text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }), role: 'both' },
]
