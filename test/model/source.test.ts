import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSource, type SourceFile, type SourceObject } from '../../src/model/source.js'

const parse = (text: string, file = 'a.yaml') => parseSource({ file, text, role: 'both' } satisfies SourceFile)
const names = (text: string, file?: string) => parse(text, file).objects.map(({ kind, name }) => `${kind}/${name}`)
const only = (text: string, file?: string): SourceObject => parse(text, file).objects[0] as SourceObject
const problems = (text: string, file?: string) =>
  parse(text, file).problems.map(({ code, source, message }) => `${code} ${source?.line}:${source?.column} ${message}`)
const object = (name: string) => `apiVersion: v1\nkind: Node\nmetadata:\n  name: ${name}\n`

describe('the documents of a YAML file', () => {
  it.each([
    ['separated by ---', `${object('a')}---\n${object('b')}`],
    ['beginning with --- and ending with ...', `---\n${object('a')}...\n---\n${object('b')}...\n`],
    ['with comments beside the markers', `# first\n--- # a\n${object('a')}# between\n--- # b\n${object('b')}---\n# nothing here\n`],
    ['with directives', `%YAML 1.2\n---\n${object('a')}...\n%YAML 1.2\n---\n${object('b')}`],
    ['with ... alone between them', `${object('a')}...\n${object('b')}`],
    ['with empty ones among them', `---\n---\n${object('a')}---\n\n---\n---\n${object('b')}---`],
    ['with CRLF', `${object('a')}---\n${object('b')}`.replace(/\n/g, '\r\n')],
    ['with a byte order mark', `\uFEFF---\n${object('a')}---\n${object('b')}`],
    ['with blanks behind the markers', `--- \n${object('a')}---\t\n${object('b')}`],
  ])('are found: %s', (_, text) => {
    expect(parse(text).problems).toEqual([])
    expect(names(text)).toEqual(['Node/a', 'Node/b'])
  })

  it('may begin on the line of the marker', () => {
    expect(
      names('--- {apiVersion: v1, kind: Node, metadata: {name: a}}\n--- !!map\napiVersion: v1\nkind: Node\nmetadata: {name: b}\n'),
    ).toEqual(['Node/a', 'Node/b'])
  })

  it('are not parted by --- that is indented, or part of a longer word', () => {
    const text = `${object('a')}data:\n  text: |\n    ---\n    ...\n  other: "x\n    --- y"\n---x: 1\n`
    expect(names(text)).toEqual(['Node/a'])
    expect(only(text).value['---x']).toBe(1)
  })

  it('leave each other alone when one does not parse', () => {
    const text = `${object('a')}---\nkind: [\n---\n${object('b')}`
    expect(names(text)).toEqual(['Node/a', 'Node/b'])
    expect(problems(text)).toEqual([expect.stringMatching(/^UnreadableInput [67]:\d+ a\.yaml is not valid YAML: /)])
  })

  it('know where everything stands, in any document and with any line ending', () => {
    for (const end of ['\n', '\r\n']) {
      const text = `# comment\n---\n${object('a')}---\n${object('b')}spec:\n  list:\n    - x\n    - {k: v}\n  empty:\n`.replace(/\n/g, end)
      const [a, b] = parse(text).objects
      expect(a?.at()).toEqual({ file: 'a.yaml', line: 3, column: 1 })
      expect(b?.at()).toEqual({ file: 'a.yaml', line: 8, column: 1 })
      expect(b?.at(['spec', 'list', 0])).toEqual({ file: 'a.yaml', line: 14, column: 7 })
      expect(b?.at(['spec', 'list', 1, 'k'])).toEqual({ file: 'a.yaml', line: 15, column: 11 })
      expect(b?.at(['spec', 'list', 1, 'k'], true)).toEqual({ file: 'a.yaml', line: 15, column: 8 })
      expect(b?.at(['spec', 'empty'])).toEqual({ file: 'a.yaml', line: 16, column: 3 })
      expect(b?.at(['spec', 'list', 7, 'x'])).toEqual({ file: 'a.yaml', line: 14, column: 5 })
      expect(b?.at(['nowhere'])).toEqual({ file: 'a.yaml', line: 8, column: 1 })
    }
  })

  it('keep texts that YAML 1.1 or a schema with timestamps would turn into something else', () => {
    const { value } = only(`${object('a')}d: 2001-01-01\nt: 2026-01-01T00:00:00Z\nm: 00:11:22:33:44:55\ny: yes\n`)
    expect(value).toMatchObject({ d: '2001-01-01', t: '2026-01-01T00:00:00Z', m: '00:11:22:33:44:55', y: 'yes' })
  })

  it('may use anchors, aliases and merge keys', () => {
    const text = `${object('a')}base: &b {x: 1}\nalias: *b\nmerged:\n  <<: *b\n  y: 2\n`
    expect(only(text).value).toMatchObject({ alias: { x: 1 }, merged: { x: 1, y: 2 } })
    expect(only(text).at(['merged', 'y']).line).toBe(9)
    expect(only(text).at(['alias', 'x']).line).toBe(5)
  })
})

describe('a YAML file that is wrong', () => {
  it.each([
    ['a tab as indentation', 'kind: Node\nmetadata:\n\tname: a\n', /^UnreadableInput 3:\d+ .*tab/],
    ['a key twice', 'kind: Node\nkind: Node\n', /^UnreadableInput 2:\d+ .*duplicated mapping key/],
    ['an unknown alias', 'kind: *x\n', /^UnreadableInput 1:\d+ .*unidentified alias/],
    ['an unknown tag', 'kind: !secret x\n', /^UnreadableInput 1:\d+ .*unknown tag/],
    ['an alias within its own anchor', 'kind: &a [*a]\n', /^UnreadableInput 1:1 .*(alias of itself|unidentified alias)/],
    ['a NUL byte', 'kind: No\0de\n', /^UnreadableInput 1:9 .*NUL/],
    ['a document that is a text', 'hello\n', /^InvalidObject 1:1 .*the text "hello"/],
    ['a document that is a list', '---\n- a\n', /^InvalidObject 2:1 .*a list/],
    ['no kind', 'apiVersion: v1\n', /^InvalidObject 1:1 .*no kind/],
    ['a kind that is a number', 'apiVersion: v1\nkind: 5\n', /^InvalidObject 2:7 .*the number 5/],
    ['no apiVersion', '# here\nkind: Node\n', /^InvalidObject 2:1 .*no apiVersion/],
    ['nothing', '', /^EmptyInput 1:1 a\.yaml is empty/],
    ['blanks', ' \n\t\n', /^EmptyInput 1:1/],
    ['only comments', '# nothing\n---\n', /^EmptyInput 1:1/],
  ])('says so: %s', (_, text, expected) => {
    expect(parse(text).objects).toEqual([])
    expect(problems(text)).toEqual([expect.stringMatching(expected)])
  })

  it('is told to quote an address that ends in two colons', () => {
    const [problem] = parse('apiVersion: v1\nkind: X\nspec:\n  address: fd00::\n').problems
    expect(problem).toMatchObject({ code: 'UnreadableInput', source: { line: 4 } })
    expect(problem?.remedy).toContain('"fd00::" in quotes')
  })

  it('is refused when aliases make it explode, whatever they hang on', () => {
    const bomb = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`).join('\n')
    expect(problems(`a0: &a0 [x, x]\n${bomb}\n`)).toEqual([expect.stringMatching(/^UnreadableInput 1:1 .*aliases expand/)])
  })

  it('is refused when it is nested too deeply, in block and flow style', () => {
    for (const depth of [110, 20_000])
      expect(problems(`a: ${'['.repeat(depth)}${']'.repeat(depth)}\n`)[0]).toMatch(/^UnreadableInput .*levels deep/)
    const block = Array.from({ length: 110 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')
    expect(problems(block)[0]).toMatch(/^UnreadableInput .*levels deep/)
  })
})

describe('a JSON file', () => {
  const list = { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', labels: { x: 'y' } } }] }

  it('is read, with positions, on one line or many', () => {
    const text = JSON.stringify(list)
    expect(only(text, 'a.json').at(['metadata', 'labels', 'x'])).toEqual({ file: 'a.json', line: 1, column: text.indexOf('"y"') + 1 })
    expect(only(text, 'a.json').at(['metadata', 'labels', 'x'], true).column).toBe(text.indexOf('"x"') + 1)
    expect(only(JSON.stringify(list, null, 2), 'a.json').at(['metadata', 'name'])).toEqual({ file: 'a.json', line: 9, column: 17 })
    expect(only(text, 'a.json').at(['spec']).column).toBe(text.indexOf('{"apiVersion":"v1","kind":"Node"') + 1)
    expect(names(`\uFEFF${text}`, '-')).toEqual(['Node/a'])
    expect(names(text, 'a.yaml')).toEqual(['Node/a'])
  })

  it('may be a document of a YAML stream', () => {
    const text = JSON.stringify(list)
    for (const name of ['-', 'a.yaml']) expect(names(`${text}\n---\n${text} # again\n`, name)).toEqual(['Node/a', 'Node/a'])
    expect(problems('{"a": 1, "a": 2}', '-')).toEqual([expect.stringMatching(/standard input is not valid YAML: duplicated mapping key/)])
  })

  it.each([
    ['{"a":1,}', /1:8 .*expected a key in double quotes, found "}"/],
    ['{\n "a": 1\n "b": 2}', /3:2 .*expected "," or "}", found "\\""/],
    ['{"a":', /1:6 .*expected a value, found the end of the file/],
    ['{"a": [1, 2', /1:12 .*expected "," or "]", found the end/],
    ['{"a": tru}', /1:7 .*expected a value/],
    ['{"a": 01}', /1:7 .*expected a value/],
    ['{"a": "x}', /1:7 .*no end/],
    ['{"a": "x\ny"}', /1:9 .*control character/],
    ['{"a": "\\x"}', /1:8 .*unknown escape/],
    ['{} {}', /1:4 .*more after the end/],
    ['{"a": 1, "a": 2}', /1:10 .*the key "a" stands twice/],
    ['hello', /1:1 .*expected a value, found "h"/],
  ])('that is wrong says where: %j', (text, expected) => {
    expect(problems(text, 'a.json')).toEqual([expect.stringMatching(expected)])
  })

  it('that is nested too deeply is refused', () => {
    expect(problems('['.repeat(100), 'a.json')[0]).toMatch(/found the end/)
    expect(problems('['.repeat(50_000), 'a.json')).toEqual([expect.stringMatching(/1:102 .*levels deep/)])
  })

  it('has faults exactly where JSON.parse fails', () => {
    const near = fc.tuple(fc.json({ maxDepth: 4 }), fc.nat(60), fc.constantFrom('', '"', ',', ':', '}', ']', '\\', '0', '\n', 'e', '-'))
    fc.assert(
      fc.property(near, ([json, at, replacement]) => {
        const text = `{"v":${json.slice(0, at) + replacement + json.slice(at + 1)}}`
        let fails = false
        try {
          JSON.parse(text)
        } catch {
          fails = true
        }
        const found = parse(text, 'a.json').problems.filter(({ code }) => code === 'UnreadableInput')
        return fails ? found.length === 1 : found.every(({ message }) => message.includes('stands twice'))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('a list', () => {
  it('stands for its items, with positions in block style, indented or not, and in flow style', () => {
    const item = (name: string, indent: string) =>
      `${indent}- apiVersion: v1\n${indent}  kind: Node\n${indent}  metadata:\n${indent}    name: ${name}\n`
    for (const indent of ['', '  ']) {
      const text = `apiVersion: v1\nitems:\n${item('a', indent)}${item('b', indent)}kind: List\nmetadata:\n  x:\n  - 1\n`
      expect(names(text)).toEqual(['Node/a', 'Node/b'])
      expect(parse(text).objects[1]?.at(['metadata', 'name'])).toEqual({ file: 'a.yaml', line: 10, column: 11 + indent.length })
      expect(parse(text).objects[1]?.at().line).toBe(7)
    }
    const flow = 'kind: List\napiVersion: v1\nitems: [{apiVersion: v1, kind: Node, metadata: {name: a}}]\n'
    expect(only(flow).at(['metadata', 'name'])).toEqual({ file: 'a.yaml', line: 3, column: 55 })
  })

  it('of one kind gives its items the kind that they leave out', () => {
    expect(names('apiVersion: v1\nkind: NodeList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n')).toEqual(['Node/a', 'Node/b'])
    expect(names('apiVersion: v1\nkind: NodeList\nitems: null\n')).toEqual([])
    expect(
      names(
        'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Pod, metadata: {name: p}}\n',
      ),
    ).toEqual(['Pod/p'])
  })

  it('reports the items that are none', () => {
    const text = 'apiVersion: v1\nkind: List\nitems:\n- null\n- metadata: {name: a}\n- {apiVersion: v1, kind: Node, metadata: {name: b}}\n'
    expect(names(text)).toEqual(['Node/b'])
    expect(problems(text)).toEqual([
      expect.stringMatching(/^InvalidObject 4:3 .*null/),
      expect.stringMatching(/^InvalidObject 5:3 .*no kind/),
    ])
    expect(problems('apiVersion: v1\nkind: List\nitems: {}\n')).toEqual([
      expect.stringMatching(/^InvalidObject 3:8 items of a List must be a list/),
    ])
  })

  it('is no list when it has no items', () => {
    expect(names('apiVersion: x/v1\nkind: AllowList\nmetadata: {name: a}\n')).toEqual(['AllowList/a'])
  })
})

describe('keys that JavaScript takes for its own', () => {
  it('are keys like any other', () => {
    const text = `${object('a')}__proto__: {polluted: true}\nconstructor: x\n`
    expect(only(text).value.constructor).toBe('x')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    const json = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"__proto__":{"polluted":true}}'
    expect(names(json, 'a.json')).toEqual(['Node/a'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})
