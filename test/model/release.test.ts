import { describe, expect, it } from 'vitest'
import { isBefore } from '../../src/model/release.js'

describe('a release', () => {
  it.each(['4.9', '4.9.58', '4.8.0-rc.1', '3.11'])('%s is older than 4.10', (release) => expect(isBefore(release, '4.10')).toBe(true))

  it.each(['4.10', '4.10.0', '4.10.0-ec.1', '4.100.1', '4.22.0-ec.1', '5.0'])('%s is not', (release) =>
    expect(isBefore(release, '4.10')).toBe(false),
  )

  it.each([null, '', 'latest', '4'])('that is unknown (%j) is a current one', (release) => expect(isBefore(release, '4.10')).toBe(false))
})
