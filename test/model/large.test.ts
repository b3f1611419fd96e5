import { describe, expect, it } from 'vitest'
import { found, node, read } from './texts.js'

const PODS = 20_000
const FILLER = 'x'.repeat(5_000)
const BROKEN = node('node-z', { 'k8s.ovn.org/host-cidrs': '["192.0.2.11/33"]' })

const pod = (index: number, indent: string): string =>
  [
    'apiVersion: v1',
    'kind: Pod',
    `metadata: {namespace: shop, name: pod-${index}, annotations: {note: ${FILLER}}}`,
    'status: {phase: Running}',
  ].join(`\n${indent}`)

describe('a file of over 100 MB', () => {
  it.each([
    ['documents', () => `${Array.from({ length: PODS }, (_, index) => `${pod(index, '')}\n---\n`).join('')}${BROKEN}`, '100009:29'],
    [
      'a list',
      () =>
        `apiVersion: v1\nkind: List\nitems:\n${Array.from({ length: PODS }, (_, index) => `- ${pod(index, '  ')}\n`).join('')}- ${BROKEN.trim().replace(/\n/g, '\n  ')}\n`,
      '80012:31',
    ],
  ])('is read, with positions, as %s', (_, text, position) => {
    const whole = text()
    expect(whole.length).toBeGreaterThan(100_000_000)
    const inputs = read([{ file: 'a.yaml', text: whole, role: 'topology' }])
    expect(inputs.topology.pods).toHaveLength(PODS)
    expect(found(inputs)).toEqual([`InvalidNode Node/node-z ${position}`])
  })

  it('is read, with positions, as JSON', () => {
    const items = Array.from({ length: PODS }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'shop', name: `pod-${index}`, annotations: { note: FILLER } },
    }))
    const broken = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { env: 5 } } }
    const text = `{"apiVersion":"v1","kind":"List","items":[\n${[...items, broken].map((item) => JSON.stringify(item)).join(',\n')}]}`
    const inputs = read([{ file: 'a.json', text, role: 'topology' }])
    expect(inputs.topology.pods).toHaveLength(PODS)
    expect(found(inputs)).toEqual([`InvalidObject Namespace/shop ${PODS + 2}:${JSON.stringify(broken).indexOf('5') + 1}`])
  })
})
