import type { Prefix } from '../model/address.js'
import type { NodeState } from '../model/node-state.js'
import { OWN_COOKIE } from '../model/numbers.js'
import type { Condition } from '../syntax/match.js'
import { compareFlows, type Flow, flow } from '../syntax/openflow.js'
import { PIPELINE } from './pipeline.js'
import { CONDITIONS, type PipelineRow } from './pipeline-row.js'
import { type Scope, scopesOf, type Values } from './scopes.js'

/** A flow of the table, and the row that it is made from. */
export interface PipelineFlow {
  readonly row: PipelineRow
  readonly flow: Flow
}

/**
 * The flows of a node's external bridge with their rows, in the order in which Open vSwitch tries them. Of two with one match, such as those of
 * networks with the same pod subnet, the first counts.
 */
export function pipelineFlows(state: Pick<NodeState, 'node' | 'bridge' | 'externalBridge'>): readonly PipelineFlow[] {
  const scopes = scopesOf(state)
  return STEPS.flatMap((rows) =>
    isShared(rows) ? sharedFlows(rows, scopes, state) : sorted(rows.flatMap((row) => flowsOf(row, scopes(row.over ?? []), state.bridge))),
  )
}

/** Rows of one table and priority. */
const STEPS: readonly (readonly PipelineRow[])[] = [...new Set(PIPELINE.map(({ table, priority }) => `${table} ${priority}`))].map((step) =>
  PIPELINE.filter(({ table, priority }) => `${table} ${priority}` === step),
)

function sorted(flows: readonly PipelineFlow[]): readonly PipelineFlow[] {
  const distinct = new Map<string, PipelineFlow>()
  for (const one of flows) {
    const key = one.flow.match.join()
    if (!distinct.has(key)) distinct.set(key, one)
  }
  return [...distinct.values()].sort((a, b) => compareFlows(a.flow, b.flow))
}

const flowsOf = (row: PipelineRow, scopes: readonly Scope[], bridge: string): readonly PipelineFlow[] =>
  scopes.flatMap((scope) => {
    const made = (row.when ?? []).every((condition) => CONDITIONS[condition].holds(scope)) ? flowOf(row, scope, bridge) : null
    return made ? { row, flow: made } : []
  })

/** Whether the rows say the same on all nodes with the same networks: in a large cluster they are most of the flows. */
const isShared = (rows: readonly PipelineRow[]): boolean => rows.every(({ over = [] }) => over.includes('cluster-node'))

const SHARED = new WeakMap<readonly Prefix[], Map<string, readonly PipelineFlow[]>>()

/** The same objects for all nodes whose addresses of the cluster are one list. */
function sharedFlows(
  rows: readonly PipelineRow[],
  scopes: ReturnType<typeof scopesOf>,
  state: Pick<NodeState, 'bridge' | 'externalBridge'>,
) {
  const { bridge, externalBridge } = state
  const known = SHARED.get(externalBridge.clusterAddresses) ?? new Map<string, readonly PipelineFlow[]>()
  SHARED.set(externalBridge.clusterAddresses, known)
  const key = [bridge, externalBridge.mode, ...scopes([]).map(({ spelling }) => spelling), ...rows.map(({ id }) => id)].join(' ')
  let flows = known.get(key)
  if (!flows) {
    flows = sorted(rows.flatMap((row) => flowsOf(row, scopes(row.over ?? []), bridge)))
    for (const { flow } of flows) OF_MANY_NODES.add(flow)
    known.set(key, flows)
  }
  return flows
}

const OF_MANY_NODES = new WeakSet<Flow>()

/** Whether a flow is one object for many nodes, so that what is made from it is worth keeping. */
export const isOfManyNodes = (flow: Flow): boolean => OF_MANY_NODES.has(flow)

/** Null where a placeholder has no value: the node has no such address. */
function flowOf(row: PipelineRow, scope: Scope, bridge: string): Flow | null {
  const spelled = spelledRow(row, scope)
  const match: Condition[] = []
  for (const [field, template] of spelled.match) {
    const value = fill(template, scope.values)
    if (value === undefined) return null
    // A prefix of length 0 asks for nothing.
    if (value !== null) match.push([field, value])
  }
  const actions = fill(spelled.actions, scope.values)
  return typeof actions === 'string' ? { ...spelled, bridge, match, actions, comment: `${scope.for}: ${row.why}` } : null
}

/** Rows in canonical spelling, by their words: what is left in them are placeholders of values, which are canonical themselves. */
const SPELLED = new WeakMap<PipelineRow, Map<string, Flow>>()

function spelledRow(row: PipelineRow, { words, spelling }: Scope): Flow {
  const known = SPELLED.get(row) ?? new Map<string, Flow>()
  SPELLED.set(row, known)
  let spelled = known.get(spelling)
  if (!spelled) {
    const spell = (template: string) => template.replaceAll(PLACEHOLDER, (text, name: string) => words[name] ?? text)
    spelled = flow({
      bridge: '',
      table: row.table,
      priority: row.priority,
      cookie: OWN_COOKIE | BigInt(row.cookie ?? 0),
      match: spell(row.match),
      actions: spell(row.actions),
    })
    known.set(spelling, spelled)
  }
  return spelled
}

const PLACEHOLDER = /\{([\w.-]+)\}/g

/** The template with its placeholders filled in; undefined where one of them has no value, null where it is one that asks for nothing. */
function fill(template: string, values: Values): string | null | undefined {
  if (!template.includes('{')) return template
  let text = ''
  for (const [at, part] of partsOf(template).entries()) {
    const filled = at % 2 === 0 ? part : values[part]
    if (typeof filled !== 'string') return filled
    text += filled
  }
  return text
}

const PARTS = new Map<string, readonly string[]>()

/** Literal text and names of placeholders, by turns. */
function partsOf(template: string): readonly string[] {
  const parts = PARTS.get(template) ?? template.split(PLACEHOLDER)
  PARTS.set(template, parts)
  return parts
}
