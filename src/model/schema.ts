import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { parsePrefix } from './address.js'
import { describe, isObject, type JsonObject, objectAt, type Path, valueAt } from './json.js'
import { notKnown } from './near.js'

/** What a schema says against a value: a field it does not know, or a value that is wrong. The path leads to the field or value. */
export interface SchemaFault {
  readonly kind: 'unknown' | 'wrong'
  readonly path: Path
  /** The end of the sentence "<path> …". */
  readonly message: string
}

/** A check against a JSON Schema that finds every fault. It is compiled when first used. */
export function schemaCheck(schema: JsonObject): (value: unknown) => readonly SchemaFault[] {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= compile(schema)
    return validate(value) ? [] : (validate.errors ?? []).map((error) => faultOf(error, value))
  }
}

/** The schemas are our own: that they are schemas is tested, not checked in every run, which takes longer than to compile them. */
function compile(schema: JsonObject): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: true, validateSchema: false, meta: false, verbose: true })
  ajv.addFormat('cidr', (text: string) => parsePrefix(text) !== undefined)
  return ajv.compile(schema)
}

/** The schema with every object that lists its properties closed to others, so that a misspelt field is found. */
export function closed(schema: JsonObject): JsonObject {
  const inner = Object.entries(schema).map(([key, value]) => [key, isObject(value) ? closed(value) : value] as const)
  const open = isObject(schema.properties) && schema.type === 'object' && schema.additionalProperties === undefined
  return { ...Object.fromEntries(inner), ...(open ? { additionalProperties: false } : {}) }
}

function faultOf(error: ErrorObject, root: unknown): SchemaFault {
  const path = pathOf(error.instancePath, root)
  const here = valueAt(root, path)
  const params = error.params as Readonly<Record<string, unknown>>
  const wrong = (message: string, at: Path = path): SchemaFault => ({ kind: 'wrong', path: at, message })
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const known = Object.keys(objectAt(error.parentSchema, ['properties']))
      return { kind: 'unknown', path: [...path, name], message: notKnown(name, known, here) }
    }
    case 'required':
      return wrong('is required and absent', [...path, String(params.missingProperty)])
    case 'type':
      return wrong(`must be ${TYPES[String(params.type)] ?? String(params.type)}; it is ${describe(here)}`)
    case 'enum':
      return wrong(`must be one of ${(params.allowedValues as unknown[]).join(', ')}; it is ${describe(here)}`)
    case 'const':
      return wrong(`must be ${String(params.allowedValue)}; it is ${describe(here)}`)
    case 'format':
      return wrong(`must be an address with a prefix length such as 10.128.0.0/14; it is ${describe(here)}`)
    default:
      return wrong(`${error.message ?? 'is wrong'}; it is ${describe(here)}`)
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  object: 'a mapping',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

/** A JSON pointer as a path: its tokens are indices where the value is a list. */
function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = []
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replace(/~1/g, '/').replace(/~0/g, '~')
    path.push(Array.isArray(valueAt(root, path)) ? Number(key) : key)
  }
  return path
}
