import type { Problem, ProblemCode, Severity } from './problem.js'

/** How severe the user takes each code: `Cluster.spec.policy`, and `--allow-unassigned` of one run. */
export interface Policy {
  readonly severities: Readonly<Record<string, Severity | 'off'>>
  /** Addresses that find no place are warnings. Addresses that are wrong in themselves stay errors. */
  readonly allowUnassigned: boolean
}

const PLACELESS: readonly ProblemCode[] = ['NoMatchingNode', 'NoAvailableNode', 'NoHostingNetwork', 'CapacityExhausted', 'AntiColocation']
const RANK = { error: 0, warning: 1, info: 2 } as const

/**
 * The problems with the severities that the policy gives them, without those it switches off, each once, errors first and
 * then in an order that depends on their content alone. A policy changes a severity, never the placement.
 */
export function applyPolicy(problems: readonly Problem[], policy: Policy): readonly Problem[] {
  const kept = new Map<string, Problem>()
  for (const found of problems) {
    const wanted = policy.severities[found.code] ?? found.severity
    if (wanted === 'off') continue
    const severity = policy.allowUnassigned && wanted === 'error' && PLACELESS.includes(found.code) ? 'warning' : wanted
    const settled = { ...found, severity }
    kept.set(JSON.stringify(rank(settled)), settled)
  }
  return [...kept.values()].sort(compareProblems)
}

/** Whether any problem is an error: the command ends with exit code 3. */
export const hasErrors = (problems: readonly Problem[]): boolean => problems.some((found) => found.severity === 'error')

function compareProblems(a: Problem, b: Problem): number {
  const left = rank(a)
  const right = rank(b)
  for (const [i, value] of left.entries()) {
    const other = right[i] as string | number
    if (value !== other) return value < other ? -1 : 1
  }
  return 0
}

function rank({ severity, object, code, source, message, remedy }: Problem): readonly (string | number)[] {
  return [RANK[severity], object ?? '', code, source?.file ?? '', source?.line ?? 0, source?.column ?? 0, message, remedy]
}
