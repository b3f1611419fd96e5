import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSources } from '../../src/cli/sources.js'
import { outcomeOf } from '../../src/constructs/outcome.js'
import { contains, type Prefix, parseAddress, parsePrefix } from '../../src/model/address.js'
import { NO_OPTIONS } from '../../src/place/place.js'
import { scenarios } from './scenario.js'

const examples = scenarios().filter(({ name }) => name.startsWith('examples/'))

/** RFC 5737, RFC 3849, and what OVN-Kubernetes has in every cluster: join, transit and masquerade addresses. */
const KNOWN = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '100.64.0.0/10', '169.254.0.0/16', 'fd00::/8']
const known = KNOWN.map((text) => parsePrefix(text) as Prefix)

describe('an example', () => {
  it('is one of several', () => {
    expect(examples.map(({ name }) => name)).toEqual(
      ['kind-3-nodes', 'openshift-aws', 'openshift-baremetal', 'openshift-gcp'].map((name) => `examples/${name}`),
    )
  })

  it.each(examples)('$name has no problem', ({ folder }) => {
    const intent = readSources([join(folder, 'intent')], 'intent')
    const topology = readSources([join(folder, 'topology')], 'topology')
    expect([...intent.problems, ...topology.problems]).toEqual([])
    const { problems } = outcomeOf([...intent.files, ...topology.files], null, [], { placement: NO_OPTIONS, allowUnassigned: false })
    expect(problems).toEqual([])
  })

  it.each(examples)('$name has addresses for documentation alone', ({ folder }) => {
    const { files } = readSources([join(folder, 'intent'), join(folder, 'topology')], 'both')
    const found = files.flatMap(({ text }) => [...text.matchAll(/(?<![\w.:-])(\d+(?:\.\d+){3}|[0-9a-f]+(?::[0-9a-f]*){2,})(?![\w.-])/g)])
    const addresses = found.flatMap(([text]) => parseAddress(text) ?? [])
    expect(addresses.length).toBeGreaterThan(20)
    expect(addresses.filter((address) => !known.some((prefix) => contains(prefix, address))).map(({ text }) => text)).toEqual([])
  })

  it.each(examples)('$name is in the list of examples', ({ name }) => {
    expect(readFileSync(join(import.meta.dirname, '../../examples/README.md'), 'utf8')).toContain(`\`${name.slice('examples/'.length)}\``)
  })
})
