import type { Problem } from '../model/problem.js'
import { arrive, depart } from './departure.js'
import { faultProblem } from './reconcile.js'
import type { Report, Request } from './run.js'
import { keepApplied } from './store.js'

/**
 * Remembers what one pass makes of the host: that the node has fallen silent, before it does, so that an agent that runs lets it be; that it
 * speaks again; and the bundle, which `shutdown` needs. What goes wrong here delays no guard.
 */
export async function remembering(
  { bundle, node, phase, stateDir }: Pick<Request, 'bundle' | 'node' | 'phase' | 'stateDir'>,
  work: () => Promise<Report>,
): Promise<Report> {
  const before = phase === 'shutdown' ? attempt(() => depart(stateDir)) : []
  const report = await work()
  const done = report.exitCode !== 1
  const after = attempt(() => {
    if (done && phase !== 'shutdown') arrive(stateDir)
    if (done) keepApplied(stateDir, node, bundle)
  })
  const problems = [...before, ...after]
  return problems.length === 0 ? report : { ...report, problems: [...report.problems, ...problems], exitCode: 1 }
}

function attempt(act: () => void): readonly Problem[] {
  try {
    act()
    return []
  } catch (error) {
    return [faultProblem(error)]
  }
}
