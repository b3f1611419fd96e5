import fc from 'fast-check'
import { type Address, addressOf, type Family, type Prefix, width } from '../../src/model/address.js'

/** Any address of a family; of both when none is named. IPv4-mapped IPv6, which is no address here, is left out. */
export const anyAddress = (family?: Family): fc.Arbitrary<Address> =>
  family === undefined
    ? fc.oneof(anyAddress(4), anyAddress(6))
    : fc
        .bigInt({ min: 0n, max: (1n << BigInt(width(family))) - 1n })
        .filter((value) => family === 4 || value >> 32n !== 0xffffn)
        .map((value) => addressOf(family, value))

export const anyPrefix = (): fc.Arbitrary<Prefix> =>
  anyAddress().chain((address) => fc.integer({ min: 0, max: width(address.family) }).map((length) => ({ address, length })))

export const anyMac = (): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':'))

export const anyDevice = (): fc.Arbitrary<string> => fc.constantFrom('br-ex', 'breth0', 'ens3f0np0', 'uplink(br-ex)')

/** A name such as objects of Kubernetes have, prefixed by its kind. */
export const anyFor = (): fc.Arbitrary<string> => fc.stringMatching(/^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$/).map((name) => `EgressIP/${name}`)

/** The same values in another order. */
export const shuffled = <T>(values: readonly T[]): fc.Arbitrary<T[]> =>
  fc.shuffledSubarray([...values], { minLength: values.length, maxLength: values.length })
