import { isObject, type Path } from './json.js'
import { notKnown } from './near.js'

/** A Kubernetes LabelSelector: matchLabels and matchExpressions are all required; an empty selector matches everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
}

export interface LabelSelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

/** Whether the selector matches the labels, as Kubernetes does: NotIn also matches where the label is absent. */
export function matches({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  for (const key in matchLabels) if (!Object.hasOwn(labels, key) || labels[key] !== matchLabels[key]) return false
  return matchExpressions === undefined || matchExpressions.every((requirement) => meets(requirement, labels))
}

function meets({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean {
  const there = Object.hasOwn(labels, key)
  if (operator === 'Exists') return there
  if (operator === 'DoesNotExist') return !there
  const listed = there && values.includes(labels[key] as string)
  return operator === 'In' ? listed : !listed
}

/** The selector as kubectl writes it, in the order of its parts: `!old,app=web,tier in (a,b)`; empty where it matches everything. */
export function printSelector({ matchLabels, matchExpressions }: LabelSelector): string {
  const labels = Object.entries(matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const expressions = (matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    return operator === 'DoesNotExist' ? `!${key}` : `${key} ${operator.toLowerCase()} (${[...values].sort().join(',')})`
  })
  return [...labels, ...expressions].sort().join(',')
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** A DNS-1123 subdomain of at most 253 characters: what the name of an object may be. */
export const isObjectName = (text: string): boolean => text.length <= 253 && SUBDOMAIN.test(text)

function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/')
  return NAME.test(key.slice(slash + 1)) && (slash < 0 || isObjectName(key.slice(0, slash)))
}

const isLabelValue = (value: string): boolean => value === '' || NAME.test(value)

/**
 * What the API server's schema lets pass and its selector code refuses: operators, their values, label syntax. And fields that no
 * selector has: without a misspelt `matchLabels` it would select everything.
 */
export function selectorFaults(selector: LabelSelector): readonly { readonly path: Path; readonly message: string }[] {
  const faults: { path: Path; message: string }[] = []
  const checkFields = (value: object, known: readonly string[], path: Path) => {
    for (const [name, field] of Object.entries(value))
      if (field !== undefined && !known.includes(name))
        faults.push({ path: [...path, name], message: `${JSON.stringify(name)} ${notKnown(name, known, value)}` })
  }
  checkFields(selector, ['matchLabels', 'matchExpressions'], [])
  const checkKey = (key: string, path: Path) => {
    if (!isLabelKey(key)) faults.push({ path, message: `${JSON.stringify(key)} is not a label key` })
  }
  const checkValue = (value: string, path: Path) => {
    if (!isLabelValue(value)) faults.push({ path, message: `${JSON.stringify(value)} is not a label value` })
  }
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    checkKey(key, ['matchLabels', key])
    checkValue(value, ['matchLabels', key])
  }
  for (const [index, requirement] of (selector.matchExpressions ?? []).entries()) {
    const { key, operator, values = [] } = requirement
    const path: Path = ['matchExpressions', index]
    checkFields(requirement, ['key', 'operator', 'values'], path)
    checkKey(key, [...path, 'key'])
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) faults.push({ path, message: `the operator ${operator} needs values` })
      for (const [at, value] of values.entries()) checkValue(value, [...path, 'values', at])
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) faults.push({ path: [...path, 'values'], message: `the operator ${operator} takes no values` })
    } else {
      faults.push({
        path: [...path, 'operator'],
        message: `${JSON.stringify(operator)} is not an operator; there are In, NotIn, Exists and DoesNotExist`,
      })
    }
  }
  return faults
}

/** Whether a value has the shape of a selector: what `matches` and `selectorFaults` need in order not to fail. */
export function isSelector(value: unknown): value is LabelSelector {
  if (!isObject(value)) return false
  const { matchLabels, matchExpressions } = value
  const texts = (list: unknown): boolean => list === undefined || (Array.isArray(list) && list.every((item) => typeof item === 'string'))
  return (
    (matchLabels === undefined || (isObject(matchLabels) && texts(Object.values(matchLabels)))) &&
    (matchExpressions === undefined ||
      (Array.isArray(matchExpressions) &&
        matchExpressions.every(
          (item) => isObject(item) && typeof item.key === 'string' && typeof item.operator === 'string' && texts(item.values),
        )))
  )
}
