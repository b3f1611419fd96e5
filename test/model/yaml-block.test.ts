import fc from 'fast-check'
import { dump } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { locateBlock } from '../../src/model/yaml-block.js'

type Path = readonly (string | number)[]

const word = fc.constantFrom('name', 'spec', 'items', 'a-b', 'example.com/x', 'x')
const text = fc.constantFrom(
  'eip',
  '2001:db8::1',
  'fd00::',
  'two words',
  'a: b',
  '- x',
  '# no',
  '',
  'one\ntwo\n',
  'line\n\n  more',
  "it's",
  '{"a":1}',
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  map: fc.dictionary(word, tie('value'), { maxKeys: 4 }),
}))
const document = fc.dictionary(word, value, { minKeys: 1, maxKeys: 4 })
const style = fc.record({
  noArrayIndent: fc.boolean(),
  indent: fc.constantFrom(2, 4),
  flowLevel: fc.constantFrom(-1, -1, 2),
  lineWidth: fc.constantFrom(-1, 20),
})

/** Every path of a parsed document with the offsets of its key and its value. */
function* places(node: unknown, path: Path): Generator<{ path: Path; key: number; value: number }> {
  if (isMap(node)) {
    for (const pair of node.items) {
      if (!isScalar(pair.key)) continue
      const inner = [...path, String(pair.key.value)]
      const key = pair.key.range?.[0] ?? 0
      const range = (pair.value as { range?: [number, number] } | null)?.range
      yield { path: inner, key, value: range && !(isScalar(pair.value) && range[0] === range[1]) ? range[0] : key }
      yield* places(pair.value, inner)
    }
  }
  if (isSeq(node)) {
    for (const [index, entry] of node.items.entries()) {
      const at = (entry as { range?: [number, number] }).range?.[0] ?? 0
      yield { path: [...path, index], key: at, value: at }
      yield* places(entry, [...path, index])
    }
  }
}

describe('locateBlock', () => {
  it('says what the parser says, or nothing', () => {
    fc.assert(
      fc.property(document, style, fc.boolean(), (content, options, commented) => {
        const printed = dump(content, options)
        const yaml = commented ? `# first\n---\n\n${printed.replace(/^(\S*:)$/gm, '$1 # why')}` : printed
        for (const { path, key, value: at } of places(parseDocument(yaml).contents, [])) {
          expect([at, undefined]).toContain(locateBlock(yaml, path, false))
          expect([key, undefined]).toContain(locateBlock(yaml, path, true))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('finds what stands in an object as kubectl prints it', () => {
    const yaml = ['- kind: EgressIP', '  spec:', '    egressIPs:', '    - 192.0.2.1', '    - 192.0.2.2', '    podSelector: {}', ''].join(
      '\n',
    )
    const at = (path: Path, key = false) => yaml.slice(locateBlock(yaml, path, key)).split('\n')[0]
    expect(at([0, 'spec', 'egressIPs', 1])).toBe('192.0.2.2')
    expect(at([0, 'spec', 'egressIPs'])).toBe('- 192.0.2.1')
    expect(at([0, 'spec', 'podSelector'], true)).toBe('podSelector: {}')
    expect(locateBlock(yaml, [0, 'spec', 'gone'], false)).toBeUndefined()
  })
})
