import { describe, isObject, type JsonObject, record, valueAt } from './json.js'
import { type Problem, problem } from './problem.js'
import type { Labels } from './selector.js'
import { type SourceObject, subject } from './source.js'

/** metadata.labels. A value that is no text cannot be a label: it is InvalidObject and left out. */
export function readLabels(object: SourceObject): { labels: Labels; problems: readonly Problem[] } {
  const found = valueAt(object.value, ['metadata', 'labels'])
  if (isObject(found) && areTexts(found)) return { labels: found, problems: NO_PROBLEMS }
  const entries = isObject(found) ? Object.entries(found) : []
  const problems = entries
    .filter(([, value]) => typeof value !== 'string')
    .map(([key, value]) =>
      problem('InvalidObject', {
        object: subject(object),
        message: `${subject(object)}: the label ${key} is ${describe(value)}; the value of a label is a text.`,
        remedy: 'Write the value in quotes; the label is left out until then.',
        source: object.at(['metadata', 'labels', key]),
      }),
    )
  return { labels: record(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')), problems }
}

const NO_PROBLEMS: readonly Problem[] = []

function areTexts(value: JsonObject): value is Labels {
  for (const key in value) if (typeof value[key] !== 'string') return false
  return true
}
