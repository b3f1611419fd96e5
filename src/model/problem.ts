import { PROBLEMS } from './problem-codes.js'
import type { ProblemKind, Severity } from './problem-kind.js'

export { PROBLEMS } from './problem-codes.js'
export type { Severity } from './problem-kind.js'

/** What is wrong with the inputs, or worth knowing about them. Collected and returned, never logged and skipped. */

/** Where an object, or a value in it, stands. `line` and `column` count from 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

export interface Problem {
  readonly severity: Severity
  readonly code: ProblemCode
  /** Name of the EgressIP, or `Kind/[namespace/]name` of another object; null when no object is concerned. */
  readonly object: string | null
  /** One sentence: what is wrong. */
  readonly message: string
  /** One sentence: what to do about it. */
  readonly remedy: string
  readonly source: Position | null
}

export type ProblemCode = keyof typeof PROBLEMS

/** A problem with the default severity of its code and, unless given, its default remedy. */
export function problem(
  code: ProblemCode,
  about: { object?: string | null; message: string; source?: Position | null; remedy?: string; severity?: Severity },
): Problem {
  const kind: ProblemKind = PROBLEMS[code]
  return {
    severity: about.severity ?? kind.severity,
    code,
    object: about.object ?? null,
    message: about.message,
    remedy: about.remedy ?? kind.remedy,
    source: about.source ?? null,
  }
}
