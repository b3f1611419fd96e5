import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bridgesOf, egressAddresses, loadBundle } from '../../src/agent/bundle.js'

const SCENARIOS = join(import.meta.dirname, '..', 'scenarios')

const folders = readdirSync(SCENARIOS).flatMap((scenario) => {
  const nodes = join(SCENARIOS, scenario, 'expected', 'nodes')
  return existsSync(nodes) ? readdirSync(nodes).map((node) => [`${scenario}/${node}`, join(nodes, node)] as const) : []
})

it.each(folders)('takes the bundle of %s, all of which egretta renders', (_, folder) => {
  const bundle = loadBundle(folder)
  expect('manifest' in bundle ? [] : bundle).toEqual([])
})

it('knows every egress IP of a bundle, on the bridge and on secondary interfaces, and no other address', () => {
  const all = folders.flatMap(([name, folder]) => {
    const bundle = loadBundle(folder)
    return 'manifest' in bundle ? [{ name, bridges: bridgesOf(bundle), addresses: egressAddresses(bundle).map(({ text }) => text) }] : []
  })
  const texts = new Set(all.flatMap(({ addresses }) => addresses))
  expect([...texts].filter((text) => text.startsWith('169.254.') || text.startsWith('fd69:'))).toEqual([])
  const secondary = all.filter(({ name }) => name.startsWith('secondary-interface/')).flatMap(({ addresses }) => addresses)
  expect(secondary).toEqual(expect.arrayContaining(['198.51.100.50', '198.51.100.51', '2001:db8:51::50']))
  expect(all.every(({ bridges }) => bridges.length === 1)).toBe(true)
})
