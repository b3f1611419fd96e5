/** How text is laid out: `width` in columns (Infinity: lines are not broken), colour where the terminal shows it. */
export interface Style {
  readonly color: boolean
  readonly width: number
}

export const PLAIN: Style = { color: false, width: Number.POSITIVE_INFINITY }

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

export type Tone = keyof typeof CODES

/** The text in a colour or weight of ANSI terminals (ECMA-48 SGR). */
export function paint(style: Style, tone: Tone, text: string): string {
  const [on, off] = CODES[tone]
  return style.color ? `\u001b[${on}m${text}\u001b[${off}m` : text
}

/**
 * The value with control characters in its texts written as JSON does: what stands in somebody's file must neither steer the
 * terminal nor begin a line of its own in the log of a CI (`::error`).
 */
export function printable<T>(value: T): T {
  if (typeof value === 'string') return value.replace(CONTROL, escaped) as T
  if (Array.isArray(value)) return value.map(printable) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [printable(key), printable(inner)])) as T
}

/** C0, DEL, C1, and what turns the direction of text or breaks a line (Unicode). */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Breaks a paragraph at blanks so that no line, indent included, is wider than the style allows; a longer word stands alone. */
export function wrap(style: Style, indent: string, text: string): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && indent.length + line.length + 1 + word.length > style.width) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, indent + line]
}

/** Rows as columns two blanks apart; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** `1 address`, `2 addresses` */
export function counted(n: number, one: string, many: string = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

/** "a", "a and b", "a, b and 3 more" */
export function few(names: readonly string[], most = 3): string {
  if (names.length > most) return `${names.slice(0, most - 1).join(', ')} and ${names.length - most + 1} more`
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
