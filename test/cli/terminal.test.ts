import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { styleOf, withProgress } from '../../src/cli/terminal.js'

const ROOT = join(import.meta.dirname, '../..')
const PROGRAM = join(ROOT, 'dist/cli/main.js')

describe('styleOf', () => {
  it('colours a terminal that shows it, unless NO_COLOR asks not to', () => {
    expect(styleOf({ isTTY: true, columns: 100 }, {})).toEqual({ color: true, width: 100 })
    expect(styleOf({ isTTY: true, columns: 100 }, { NO_COLOR: '1' }).color).toBe(false)
    expect(styleOf({ isTTY: true, columns: 100 }, { NO_COLOR: '' }).color).toBe(true)
    expect(styleOf({ isTTY: true, columns: 100 }, { TERM: 'dumb' }).color).toBe(false)
  })
  it('breaks no lines for files and pipes, and takes a usable width for a terminal that says none', () => {
    expect(styleOf({}, {})).toEqual({ color: false, width: Number.POSITIVE_INFINITY })
    expect(styleOf({ isTTY: true, columns: 0 }, {}).width).toBe(80)
    expect(styleOf({ isTTY: true, columns: 5 }, {}).width).toBe(40)
  })
})

describe('withProgress', () => {
  it('shows one step at a time on the second stream, and none once something is printed', () => {
    const written: string[] = []
    const { out, err, progress } = withProgress(
      (text) => written.push(`out ${text}`),
      (text) => written.push(`err ${text}`),
    )
    out('a')
    progress('reading')
    progress('placing')
    out('b')
    err('c')
    const erase = 'err \r\x1b[K'
    expect(written).toEqual(['out a', 'err reading …', erase, 'err placing …', erase, 'out b', 'err c'])
  })
})

describe('a pipe that is closed early', () => {
  it('ends the command without a word', async () => {
    expect(existsSync(PROGRAM), 'dist/cli/main.js is not built; run npm run build').toBe(true)
    const example = join(ROOT, 'examples/kind-3-nodes')
    const words = ['plan', '-o', 'json', '--intent', join(example, 'intent'), '--topology', join(example, 'topology')]
    const child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'pipe'], cwd: tmpdir() })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    const code = await new Promise((ended) => child.once('close', ended))
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })
})
