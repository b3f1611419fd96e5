import { createExec } from '../host/exec.js'
import type { Problem } from '../model/problem.js'
import { createFollowUp } from './follow-up.js'
import { type Report, type Request, run } from './run.js'

/**
 * Runs that wait for other stations, for an operator or a script: passes until the node holds every egress IP that it is to hold, up to the
 * last announcement. Each pass does whatever else the bundle asks for, and nothing is locked between them. The report is that of the last
 * one, with the changes and warnings of all. Who has other work meanwhile calls `run`, and waits with a FollowUp.
 */
export async function apply(request: Omit<Request, 'command'>): Promise<Report> {
  const followUp = createFollowUp(createExec(request.exec))
  const changes: Report['changes'][number][] = []
  const warnings = new Map<string, Problem>()
  const { move: _, ...again } = request
  for (let next = request; ; next = again) {
    const report = await run({ ...next, command: 'apply' })
    changes.push(...report.changes)
    followUp.follow(report)
    const said = [...warnings.values(), ...report.problems]
    for (const each of report.problems) if (each.severity === 'warning') warnings.set(each.message, each)
    if (report.exitCode === 1 || !report.handover || report.handover.waiting.length === 0) {
      await followUp.announced()
      return { ...report, changes, problems: [...new Map(said.map((each) => [each.message, each])).values()] }
    }
    await followUp.turn()
    await followUp.rest()
  }
}
