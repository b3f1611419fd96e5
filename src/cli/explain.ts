import { outcomeOf } from '../constructs/outcome.js'
import { verdictsOn } from '../place/verdict.js'
import { explain as answer } from '../plan/explain.js'
import { viewExplanation } from '../plan/explain-view.js'
import type { Question } from '../plan/explanation.js'
import { viewProblems } from '../plan/view.js'
import { UsageError } from './fault.js'
import type { ExitCode, Request, Terminal } from './request.js'
import { EXIT, printJson, refuseUnknownNodes, watched } from './request.js'

/** `egretta explain`: answers one question about the plan. Reads only. Errors elsewhere in the plan do not make it fail. */
export function explain({ project, output, options }: Request, question: Question, terminal: Terminal): ExitCode {
  const outcome = outcomeOf(project.files, project.lock, project.problems, watched(options, terminal))
  const { inputs, placement, after, problems } = outcome
  if (inputs.unreadable) {
    terminal.err(viewProblems(problems, terminal.errorStyle))
    return EXIT.failed
  }
  refuseUnknownNodes(inputs, options.placement)
  const verdicts = verdictsOn(inputs, options.placement, placement)
  const found = answer(question, { inputs, placement, options: options.placement, verdicts, after, problems })
  if ('unknown' in found) throw new UsageError(found.unknown)
  terminal.out(output === 'json' ? printJson(found) : viewExplanation(found, terminal.style))
  return EXIT.fine
}
