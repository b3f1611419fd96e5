import { outcomeOf } from '../constructs/outcome.js'
import { hasErrors } from '../model/policy.js'
import { buildPlan, hasDifferences } from '../plan/index.js'
import { viewPlan, viewProblems } from '../plan/view.js'
import type { ExitCode, Request, Terminal } from './request.js'
import { EXIT, printJson } from './request.js'

/** `egretta plan`: what the intent changes. Reads only. */
export function plan({ project, output, options }: Request, detailed: boolean, terminal: Terminal): ExitCode {
  const outcome = outcomeOf(project.files, project.lock, project.problems, options)
  const planned = buildPlan(outcome)
  const { unreadable } = outcome.inputs
  if (output === 'json') terminal.out(printJson(planned))
  else if (unreadable) terminal.err(viewProblems(planned.problems, terminal.errorStyle))
  else terminal.out(viewPlan(planned, { inputs: outcome.inputs, objects: [] }, terminal.style))
  if (unreadable) return EXIT.failed
  if (hasErrors(planned.problems)) return EXIT.errors
  return detailed && hasDifferences(planned) ? EXIT.differences : EXIT.fine
}
