import { outcomeOf } from '../constructs/outcome.js'
import { hasErrors } from '../model/policy.js'
import { countProblems } from '../plan/phrases.js'
import { viewProblems } from '../plan/view.js'
import type { ExitCode, Request, Terminal } from './request.js'
import { EXIT, printJson, refuseUnknownNodes, watched } from './request.js'

/** `egretta check`: the problems of the inputs and of their placement, nothing else. */
export function check({ project, output, options }: Request, terminal: Terminal): ExitCode {
  const { inputs, problems } = outcomeOf(project.files, project.lock, project.problems, watched(options, terminal))
  refuseUnknownNodes(inputs, options.placement)
  if (output === 'json')
    terminal.out(printJson({ apiVersion: 'egretta.dev/v1alpha1', kind: 'Check', inputDigest: inputs.digest, problems }))
  else terminal.out(problems.length > 0 ? `${viewProblems(problems, terminal.style)}${countProblems(problems)}\n` : 'No problems.\n')
  if (inputs.unreadable) return EXIT.failed
  return hasErrors(problems) ? EXIT.errors : EXIT.fine
}
