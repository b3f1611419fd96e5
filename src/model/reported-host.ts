import type { HostFacts } from './host-facts.js'
import { HOST_FACTS_SCHEMA } from './host-facts-schema.js'
import { printPath } from './json.js'
import { type Problem, problem } from './problem.js'
import { schemaCheck } from './schema.js'
import { type SourceObject, subject } from './source.js'

/** The facts of one host and the object they stand in. */
export interface ReportedHost {
  readonly facts: HostFacts
  readonly source: SourceObject
}

const check = schemaCheck(HOST_FACTS_SCHEMA)

/** The facts of a HostFacts object. One that is wrong anywhere is InvalidObject and left out; an unknown field is UnknownField. */
export function readHostFacts(object: SourceObject): { readonly host: ReportedHost | null; readonly problems: readonly Problem[] } {
  const faults = check(object.value)
  const problems = faults.map(({ kind, path, message }) => {
    const unknown = kind === 'unknown'
    return problem(unknown ? 'UnknownField' : 'InvalidObject', {
      object: subject(object),
      message: `${subject(object)}: ${printPath(path)} ${message}.`,
      source: object.at(path, unknown),
      ...(unknown ? {} : { remedy: 'Print the facts again with egretta-agent facts on that host; they are left out until then.' }),
    })
  })
  if (faults.some(({ kind }) => kind === 'wrong')) return { host: null, problems }
  const { spec } = object.value as unknown as { readonly spec: Omit<HostFacts, 'node'> }
  return { host: { facts: { node: object.name, ...spec }, source: object }, problems }
}
