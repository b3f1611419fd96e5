/** A part of a document: a title, rows that may be left out from the end, and nothing where there are no rows. */
export interface Section {
  readonly head: string
  readonly rows: readonly string[]
  /** Separates rows: a line break in a list or table. */
  readonly gap: '\n' | '\n\n'
}

/** Room for the note that rows are left out. */
const NOTE = 120

/**
 * Joins sections, leaving out rows, with a note, so that the whole has at most `limit` characters (UTF-16 units). Each section
 * may have an equal share, and what one does not need goes to the others. Sections without rows are left out.
 */
export function shorten(sections: readonly Section[], limit: number): string {
  const filled = sections.filter(({ rows }) => rows.length > 0)
  const need = ({ rows, gap }: Section) => rows.reduce((sum, row) => sum + row.length + gap.length, 0)
  let room = limit - filled.reduce((sum, { head }) => sum + head.length + NOTE + 4, 0)
  const budgets = new Map<Section, number>()
  const byNeed = [...filled].sort((a, b) => need(a) - need(b))
  for (const [i, section] of byNeed.entries()) {
    const budget = Math.min(need(section), Math.floor(room / (byNeed.length - i)))
    budgets.set(section, budget)
    room -= budget
  }
  return `${filled.map((section) => shortened(section, budgets.get(section) ?? 0)).join('\n\n')}\n`
}

function shortened({ head, rows, gap }: Section, budget: number): string {
  const kept: string[] = []
  let used = 0
  for (const row of rows) {
    used += row.length + gap.length
    if (used > budget) break
    kept.push(row)
  }
  const rest = rows.length - kept.length
  const parts = [
    [head, ...kept].filter(Boolean).join(gap),
    ...(rest > 0 ? [`… and ${rest} more: \`egretta plan\` prints everything.`] : []),
  ]
  return parts.filter(Boolean).join('\n\n')
}
