import type { Outcome } from '../constructs/outcome.js'
import { placementOptions, planOptions, printOptions } from '../plan/options.js'
import { type DecidedPlan, otherDecisions } from '../plan/read.js'
import { UsageError } from './fault.js'
import { readPlan } from './previous.js'
import type { Request } from './request.js'

/**
 * What `synth --plan FILE` is asked for: the request with the options that the plan was made with. Where the file is no plan its problem is
 * one of the project, and nothing will be written. Throws UsageError for options that are not those of the plan.
 */
export function asReviewed(file: string, request: Request): { readonly request: Request; readonly plan: DecidedPlan | null } {
  const { project, options } = request
  const { plan, problems } = readPlan(file)
  if (!plan) return { plan, request: { ...request, project: { ...project, problems: [...project.problems, ...problems] } } }
  const asked = printOptions(planOptions(options.placement))
  const made = printOptions(plan.options)
  if (asked !== '' && asked !== made) {
    const how = made === '' ? 'without --drain, --down and --rebalance' : `with ${made}`
    throw new UsageError(`${file} was made ${how}, not with ${asked}; leave the options out, or make a new plan; nothing was written`)
  }
  return { plan, request: { ...request, options: { ...options, placement: placementOptions(plan.options) } } }
}

const AGAIN = 'nothing was written. Run egretta plan -o json again with the same paths, review it, and write that one'

/** Throws UsageError when what would be written is not what the plan says: the inputs have changed, or they are decided otherwise. */
export function refuseOthers(file: string, plan: DecidedPlan, { inputs, placement }: Outcome): void {
  if (inputs.unreadable) return
  const [first, ...more] = otherDecisions(plan, placement)
  const count = more.length > 0 ? `, and ${more.length} more differ` : ''
  if (plan.inputDigest !== inputs.digest) {
    const effect = first === undefined ? 'Every address would be decided as in the plan' : `${first}${count}`
    throw new UsageError(
      `${file} was made of other inputs: intent, topology or lock have changed since, or other files were named. ${effect}; ${AGAIN}`,
    )
  }
  if (first !== undefined) throw new UsageError(`${file} was made by another version of egretta, or edited: ${first}${count}; ${AGAIN}`)
}
