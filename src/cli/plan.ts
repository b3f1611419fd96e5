import { outcomeOf } from '../constructs/outcome.js'
import { DEFAULT_NODE_SELECTOR } from '../model/egressip-crd.js'
import type { Inputs } from '../model/inputs.js'
import { hasErrors } from '../model/policy.js'
import type { SourceObject } from '../model/source.js'
import { buildPlan, hasDifferences } from '../plan/index.js'
import { objectChange } from '../plan/object-change.js'
import type { ObjectChange } from '../plan/view.js'
import { viewPlan, viewProblems } from '../plan/view.js'
import type { ExitCode, Request, Terminal } from './request.js'
import { EXIT, printJson, refuseUnknownNodes } from './request.js'

/** `egretta plan`: what the intent changes. Reads only. */
export function plan({ project, output, options }: Request, detailed: boolean, terminal: Terminal): ExitCode {
  const outcome = outcomeOf(project.files, project.lock, project.problems, options)
  refuseUnknownNodes(outcome.inputs, options.placement)
  const planned = buildPlan(outcome)
  const { unreadable } = outcome.inputs
  if (output === 'json') terminal.out(printJson(planned))
  else if (unreadable) terminal.err(viewProblems(planned.problems, terminal.errorStyle))
  else terminal.out(viewPlan(planned, { inputs: outcome.inputs, objects: changedSpecs(outcome.inputs) }, terminal.style))
  if (unreadable) return EXIT.failed
  if (hasErrors(planned.problems)) return EXIT.errors
  return detailed && hasDifferences(planned) ? EXIT.differences : EXIT.fine
}

/** What the intent changes in the spec of objects that the cluster has already. */
function changedSpecs({ intent }: Inputs): readonly ObjectChange[] {
  return intent.objects.flatMap(({ name, source, live }) => (live ? (objectChange(name, specOf(live), specOf(source)) ?? []) : []))
}

/** With the defaults of the CRD, which a live object has and a file need not. */
function specOf({ value }: SourceObject): object {
  return { podSelector: {}, egressNodeSelector: DEFAULT_NODE_SELECTOR, ...(value.spec as object) }
}
