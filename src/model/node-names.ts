/** How many nodes a sentence names. */
const MOST = 20

/** `node node-a`, `2 nodes (node-a, node-b)`; of more than twenty the first twenty by name. */
export function printNodes(names: readonly string[]): string {
  if (names.length === 1) return `node ${names[0]}`
  const rest = names.length > MOST ? ` and ${names.length - MOST} more` : ''
  return `${names.length} nodes (${[...names].sort().slice(0, MOST).join(', ')}${rest})`
}
