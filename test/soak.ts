/** Whether this is the long run, `npm run soak`: the same tests, more often. */
const SOAK = process.env.EGRETTA_SOAK === '1'

/** How often a test does what it does: in `npm test`, and in `npm run soak`. */
export const rounds = (usual: number, soak: number): number => (SOAK ? soak : usual)

/**
 * What is held against a bound of time: in `npm run soak`, on a machine that does nothing else, the longest of the times; in `npm test` the
 * middle one, because another program may keep one of them waiting.
 */
export function judged(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return (SOAK ? sorted.at(-1) : sorted[Math.floor((sorted.length - 1) / 2)]) ?? Number.POSITIVE_INFINITY
}
