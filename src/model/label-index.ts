import { type LabelSelector, type Labels, matches } from './selector.js'

/** Places in the list of items, in order. */
type Places = readonly number[]

/**
 * Finds the items whose labels a selector matches, in their order, as `matches` would one by one. An index from label to items makes
 * the time depend on how many have the rarest label that the selector asks for, not on how many there are.
 */
export function labelIndex<T extends { readonly labels: Labels }>(items: readonly T[]): (selector: LabelSelector) => readonly T[] {
  const keys = new Map<string, Map<string, number[]>>()
  for (const [place, { labels }] of items.entries()) {
    for (const key of Object.keys(labels)) {
      const values = keys.get(key) ?? new Map<string, number[]>()
      keys.set(key, values)
      const value = labels[key] as string
      const places = values.get(value)
      if (places) places.push(place)
      else values.set(value, [place])
    }
  }
  const having = (key: string, values: readonly string[]): readonly Places[] => values.flatMap((value) => [keys.get(key)?.get(value) ?? []])
  return (selector) => {
    const groups = [
      ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => having(key, [value])),
      ...(selector.matchExpressions ?? []).flatMap(({ key, operator, values = [] }) => {
        if (operator === 'In') return [having(key, [...new Set(values)])]
        return operator === 'Exists' ? [[...(keys.get(key)?.values() ?? [])]] : []
      }),
    ]
    const [first, ...others] = groups
    if (first === undefined) return items.filter(({ labels }) => matches(selector, labels))
    const rarest = others.reduce((best, group) => (count(group) < count(best) ? group : best), first)
    const places = rarest.length === 1 ? (rarest[0] as Places) : rarest.flat().sort((a, b) => a - b)
    return places.map((place) => items[place] as T).filter(({ labels }) => matches(selector, labels))
  }
}

const count = (group: readonly Places[]): number => group.reduce((sum, places) => sum + places.length, 0)
