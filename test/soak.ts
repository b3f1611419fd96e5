/** Whether this is the long run, `npm run soak`: the same tests, more often. */
const SOAK = process.env.EGRETTA_SOAK === '1'

/** How often a test does what it does: in `npm test`, and in `npm run soak`. */
export const rounds = (usual: number, soak: number): number => (SOAK ? soak : usual)
