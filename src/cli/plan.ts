import { outcomeOf } from '../constructs/outcome.js'
import { hasErrors } from '../model/policy.js'
import { buildPlan, hasDifferences } from '../plan/index.js'
import { changedObjects } from '../plan/object-change.js'
import { viewPlan, viewProblems } from '../plan/view.js'
import type { ExitCode, Request, Terminal } from './request.js'
import { EXIT, printJson, refuseUnknownNodes } from './request.js'

/** `egretta plan`: what the intent changes. Reads only. */
export function plan({ project, output, options }: Request, detailed: boolean, terminal: Terminal): ExitCode {
  const outcome = outcomeOf(project.files, project.lock, project.problems, options)
  refuseUnknownNodes(outcome.inputs, options.placement)
  const planned = buildPlan(outcome)
  const { unreadable } = outcome.inputs
  const objects = changedObjects(outcome.inputs)
  if (output === 'json') terminal.out(printJson(planned))
  else if (unreadable) terminal.err(viewProblems(planned.problems, terminal.errorStyle))
  else terminal.out(viewPlan(planned, { inputs: outcome.inputs, objects }, terminal.style))
  if (unreadable) return EXIT.failed
  if (hasErrors(planned.problems)) return EXIT.errors
  return detailed && hasDifferences(planned, objects) ? EXIT.differences : EXIT.fine
}
