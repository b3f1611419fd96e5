/**
 * Text of somebody's file inside GitHub-flavoured Markdown, also in a table: shown as it is, it forms no markup, no HTML and no link,
 * and mentions nobody. Control characters are for `printable` before.
 */
export const prose = (text: string): string =>
  text.replace(SPECIAL, (found) => (found === '@' || found === '#' ? `<code>${found}</code>` : found.replace(/[^w]/gi, reference)))

/**
 * ASCII punctuation that begins or ends markup anywhere in a line, and what begins a link: as a character reference it never does
 * (CommonMark 0.31, 2.5). Mentions and numbers of issues are looked for after that, but not in code.
 */
const SPECIAL = /[\\`*_{}[\]<>&|~!$@#]|:(?=\/\/)|\bwww\./gi

const reference = (character: string): string => `&#${character.codePointAt(0)};`

/** A name or an address as code. Where a code span could not hold it, its characters are written as references. */
export const code = (text: string): string => (SPAN.test(text) ? `\`${text}\`` : htmlCode(text))

/** A backslash or `|` would have another meaning in a table than outside. */
const SPAN = /^[^\s\\`|](?:[^\\`|]*[^\s\\`|])?$/

/** The same where Markdown is not read, as in `<summary>`. */
export const htmlCode = (text: string): string => `<code>${text.replace(/[^\p{L}\p{N} ]/gu, reference)}</code>`

/** Lines in a block that none of them can end. */
export function fenced(language: string, lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, ...lines, fence].join('\n')
}

/** At most so many characters of a text, with a mark where some are left out. */
export const clipped = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
