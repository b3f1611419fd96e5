export type Severity = 'error' | 'warning' | 'info'

/** What all problems of one code have in common. `docs/problems.md` is made from it. */
export interface ProblemKind {
  /** Unless the place that finds the problem, or Cluster.spec.policy, says another one. */
  readonly severity: Severity
  /** What such a problem says, in general. */
  readonly meaning: string
  /** What to do, when the place that finds the problem has no better advice. */
  readonly remedy: string
}
