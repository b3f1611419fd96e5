import { bundlesNow, outcomeOf } from '../constructs/outcome.js'
import { applyPolicy, hasErrors } from '../model/policy.js'
import { nMinusOne } from '../place/n-minus-one.js'
import { hostProblems } from '../plan/hosts.js'
import { buildPlan, hasDifferences } from '../plan/index.js'
import { viewMarkdown } from '../plan/markdown.js'
import { changedObjects, objectsNow } from '../plan/object-change.js'
import { comparedWith } from '../plan/previous.js'
import { viewPlan, viewProblems } from '../plan/view.js'
import { readPrevious } from './previous.js'
import type { ExitCode, Request, Terminal } from './request.js'
import { EXIT, printJson, refuseUnknownNodes, watched } from './request.js'

/** What `plan` alone is asked for. */
export interface PlanCommand {
  /** Exit 2 when the plan changes anything. */
  readonly detailed: boolean
  /** A plan or inputs to compare with instead of the current assignment; null: none. */
  readonly previous: string | null
  /** Say for every single egress node whether all addresses would fit without it. */
  readonly nMinusOne: boolean
}

/** `egretta plan`: what the intent changes. Reads only. */
export function plan(
  { project, output, options }: Request,
  { detailed, previous, nMinusOne: each }: PlanCommand,
  terminal: Terminal,
): ExitCode {
  const { earlier, problems } = previous === null ? { earlier: null, problems: [] } : readPrevious(previous)
  const outcome = outcomeOf(project.files, project.lock, [...project.problems, ...problems], watched(options, terminal))
  const { inputs } = outcome
  refuseUnknownNodes(inputs, options.placement)
  const compared = earlier && !inputs.unreadable ? comparedWith(earlier.previous, outcome, bundlesNow) : outcome
  const policy = { severities: inputs.cluster.policy, allowUnassigned: options.allowUnassigned }
  const hosts = inputs.unreadable ? [] : hostProblems(inputs, outcome.after)
  const subject = hosts.length > 0 ? { ...compared, problems: applyPolicy([...compared.problems, ...hosts], policy) } : compared
  if (each) terminal.progress?.('taking away one node after the other')
  const planned = buildPlan(
    each && !inputs.unreadable ? { ...subject, nMinusOne: nMinusOne(inputs, options.placement, outcome.placement) } : subject,
  )
  const before = earlier ? earlier.objects : objectsNow(inputs)
  const objects = before ? changedObjects(before, inputs.intent, planned.assignments) : []
  if (output === 'json') terminal.out(printJson(planned))
  else if (inputs.unreadable) terminal.err(viewProblems(planned.problems, terminal.errorStyle))
  else if (output === 'markdown') terminal.out(viewMarkdown(planned, { inputs, objects }))
  else terminal.out(viewPlan(planned, { inputs, objects }, terminal.style))
  if (inputs.unreadable) return EXIT.failed
  if (hasErrors(planned.problems)) return EXIT.errors
  return detailed && hasDifferences(planned, objects) ? EXIT.differences : EXIT.fine
}
