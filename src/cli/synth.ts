import { existsSync } from 'node:fs'
import { EgressApp } from '../constructs/app.js'
import { EgressCluster } from '../constructs/cluster.js'
import type { OutcomeOptions } from '../constructs/outcome.js'
import { alone, replaceFile } from '../constructs/synth.js'
import { printLock } from '../model/lock.js'
import { hasErrors } from '../model/policy.js'
import { buildPlan } from '../plan/index.js'
import { countProblems } from '../plan/phrases.js'
import { counted } from '../plan/style.js'
import { viewProblems } from '../plan/view.js'
import { UsageError } from './fault.js'
import type { Project } from './project.js'
import type { ExitCode, Request, Terminal } from './request.js'
import { EXIT, printJson, refuseUnknownNodes } from './request.js'
import { asReviewed, refuseOthers } from './reviewed.js'
import { readText } from './sources.js'

export interface SynthOptions {
  /** The output folder. */
  readonly out: string
  /** Fail instead of changing the lock. */
  readonly frozen: boolean
}

/** What `synth` alone is asked for. */
export interface SynthCommand extends SynthOptions {
  /** A plan in a file, of which nothing may differ; null: none. */
  readonly plan: string | null
}

/** `egretta synth`: writes the output folder and the lock. */
export function synth(given: Request, options: SynthCommand, terminal: Terminal): ExitCode {
  if (options.out === '') throw new UsageError('--out needs the name of a folder')
  if (options.frozen && given.project.lockPath === null) throw new UsageError('--frozen compares with a lock; name it with --lock FILE')
  const { request, plan } = options.plan === null ? { request: given, plan: null } : asReviewed(options.plan, given)
  const cluster = clusterOf(request.project, options.out, request.options)
  terminal.progress?.('placing and rendering')
  if (options.plan !== null && plan) refuseOthers(options.plan, plan, cluster.outcome)
  refuseUnknownNodes(cluster.outcome.inputs, request.options.placement)
  const said = request.output === 'json' ? { ...terminal, out: () => {} } : terminal
  const exit = synthesise(cluster, request.project, options, said)
  if (request.output === 'json') terminal.out(printJson(buildPlan(cluster.outcome)))
  return exit
}

/** The constructs of a project; `egretta synth` and `cdk8s synth` both start from them. */
export function clusterOf(project: Project, out: string, { placement, allowUnassigned }: OutcomeOptions): EgressCluster {
  const { files, lock, problems } = project
  return new EgressCluster(new EgressApp({ outdir: out }), 'cluster', {
    topology: files,
    lock,
    problems,
    options: placement,
    allowUnassigned,
  })
}

/** Writes what is valid, then the lock, and says so; problems go to `err`. */
export function synthesise(cluster: EgressCluster, project: Project, { out, frozen }: SynthOptions, terminal: Terminal): ExitCode {
  const { problems, outcome } = cluster
  terminal.err(viewProblems(problems, terminal.errorStyle))
  if (outcome.inputs.unreadable) {
    terminal.err(`${countProblems(problems)}; nothing was written\n`)
    return EXIT.failed
  }
  const lock = printLock(cluster.lock)
  const lockChanges = project.lockPath !== null && lock !== project.lockText && !(project.lockText === null && isEmpty(cluster))
  if (frozen && lockChanges) {
    terminal.err(`${project.lockPath} would change; nothing was written. Run egretta synth without --frozen and commit the lock\n`)
    return EXIT.differences
  }
  terminal.progress?.(`writing ${out}`)
  alone(out, () => {
    refuseChangedLock(project)
    EgressApp.above(cluster)?.synth()
    if (lockChanges) replaceFile(project.lockPath, lock)
  })
  const { held, after } = outcome
  const written = `${out}: ${counted(held.length, 'address', 'addresses')} on ${counted(after.size, 'node')}`
  terminal.out(
    `${written}${lockChanges ? `; ${project.lockPath} written` : ''}${problems.length > 0 ? `; ${countProblems(problems)}` : ''}\n`,
  )
  return hasErrors(problems) ? EXIT.errors : EXIT.fine
}

/** Another run may have written it since: what is decided here would undo what was decided there. */
function refuseChangedLock({ lockPath, lockText }: Project): void {
  const now = lockPath !== null && existsSync(lockPath) ? readText(lockPath) : null
  if (now === lockText) return
  throw new UsageError(`${lockPath} was changed while egretta worked; run again; nothing was written`)
}

const isEmpty = (cluster: EgressCluster): boolean => Object.keys(cluster.lock.objects).length === 0
