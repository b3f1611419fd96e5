import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

interface Report {
  readonly modules: readonly { readonly source: string }[]
  readonly summary: {
    readonly violations: readonly { readonly rule: { readonly name: string }; readonly from: string; readonly to: string }[]
  }
}

function cruise(folder: string): Report {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'), '--output-type', 'json', 'src'],
    {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  )
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Report
}

const violations = (report: Report) =>
  report.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to.replace(/^.*node_modules\//, '')}`)

describe('the import floors', () => {
  it('hold in the project, and every source file was looked at', () => {
    const report = cruise(root)
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const seen = report.modules.map(({ source }) => source).filter((source) => source.startsWith('src/'))
    expect(violations(report)).toEqual([])
    expect(sources.length).toBeGreaterThan(0)
    expect(seen.sort()).toEqual(sources.map((file) => `src/${file}`).sort())
  })
})

/** File of a small tree, its text, and what must be reported of it. */
const PLANTED: readonly (readonly [what: string, file: string, text: string, reported: string])[] = [
  ['an import that goes up', 'src/model/up.ts', "import '../place/verb.js'", 'floor-model: src/model/up.ts → src/place/verb.ts'],
  [
    'a type that goes up',
    'src/model/type.ts',
    "import type { X } from '../place/verb.js'\nexport type Y = X",
    'floor-model: src/model/type.ts → src/place/verb.ts',
  ],
  ['one stair that enters the other', 'src/plan/diff.ts', "import '../place/verb.js'", 'floor-plan: src/plan/diff.ts → src/place/verb.ts'],
  [
    'a neighbor on the same floor',
    'src/compile/index.ts',
    "import '../place/verb.js'",
    'floor-compile: src/compile/index.ts → src/place/verb.ts',
  ],
  [
    'a program started outside of host',
    'src/cli/run.ts',
    "import 'node:child_process'",
    'child-process-in-host: src/cli/run.ts → child_process',
  ],
  ['a file touched in a pure folder', 'src/render/index.ts', "import 'node:fs'", 'files-in-few-places: src/render/index.ts → fs'],
  ['a promise of a file', 'src/agent/read.ts', "import 'node:fs/promises'", 'files-in-few-places: src/agent/read.ts → fs/promises'],
  ['another built-in in a pure folder', 'src/place/os.ts', "import 'os'", 'pure-built-ins: src/place/os.ts → os'],
  [
    'client-node loaded at start-up',
    'src/cli/cluster.ts',
    "import '@kubernetes/client-node'",
    'client-node-types-only: src/cli/cluster.ts → @kubernetes/client-node/dist/index.js',
  ],
  [
    'a development tool in src',
    'src/cli/ts.ts',
    "import 'typescript'",
    'not-to-dev-dependency: src/cli/ts.ts → typescript/lib/typescript.js',
  ],
  ['a module that is not there', 'src/cli/gone.ts', "import '../model/gone.js'", 'not-to-unresolvable: src/cli/gone.ts → ../model/gone.js'],
  ['a folder without a floor', 'src/main.ts', "import './utils/all.js'", 'known-folder: src/main.ts → src/utils/all.ts'],
  ['a cycle', 'src/model/a.ts', "import './b.js'", 'no-circular: src/model/a.ts → src/model/b.ts'],
  [
    'a way from the agent to cdk8s, however long',
    'src/agent/main.ts',
    "import '../host/exec.js'",
    'small-node-image: src/agent/main.ts → cdk8s/lib/index.js',
  ],
]

/** What is around the planted files; nothing in it may be reported. */
const SOUND = {
  'src/model/noun.ts': 'export const noun = 1',
  'src/model/b.ts': "import './a.js'",
  'src/model/far.ts': "import 'cdk8s'",
  'src/place/verb.ts': "import { noun } from '../model/noun.js'\nexport type X = number\nexport const verb = noun",
  'src/host/exec.ts': "import '../model/far.js'\nimport 'node:child_process'\nimport 'node:fs'",
  'src/utils/all.ts': 'export {}',
  'src/cli/type.ts': "import type { V1Pod } from '@kubernetes/client-node'\nexport type Pod = V1Pod",
}

describe('a planted violation', () => {
  let found: readonly string[]

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), 'egretta floors-'))
    for (const file of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) cpSync(join(root, file), join(folder, file))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const [file, text] of [...Object.entries(SOUND), ...PLANTED.map(([, file, text]) => [file, text] as const)]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), `${text}\n`)
    }
    found = violations(cruise(folder))
    rmSync(folder, { recursive: true })
  })

  it.each(PLANTED)('%s is reported', (_, _file, _text, reported) => {
    expect(found).toContain(reported)
  })

  it('is not seen where there is none', () => {
    const files = ['noun', 'place/verb', 'cli/type'].map((name) => `${name}.ts →`)
    expect(found.filter((line) => files.some((file) => line.includes(file)))).toEqual([])
  })
})
