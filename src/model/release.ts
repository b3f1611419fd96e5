/** `4.14.3`, `4.9` or `4.22.0-ec.1`: the major and the minor number count. */
const RELEASE = /^([0-9]+)\.([0-9]+)(?![0-9])/

/** Whether a release is older than another one (`4.10`). One that is unknown is taken for a current one. */
export function isBefore(release: string | null, other: string): boolean {
  const [a, b] = [numbersOf(release ?? ''), numbersOf(other)]
  if (!a || !b) return false
  return a.major < b.major || (a.major === b.major && a.minor < b.minor)
}

function numbersOf(text: string): { readonly major: number; readonly minor: number } | null {
  const found = RELEASE.exec(text)
  return found && { major: Number(found[1]), minor: Number(found[2]) }
}
