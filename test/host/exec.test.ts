import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createExec, HostFault, output } from '../../src/host/exec.js'
import { lockState } from '../../src/host/lock.js'

const folder = mkdtempSync(join(tmpdir(), 'egretta-exec-'))
afterAll(() => rmSync(folder, { recursive: true }))
const exec = createExec({ scratch: [folder] })

const fault = async (promise: Promise<unknown>): Promise<HostFault> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(HostFault)
  return error as HostFault
}

describe('a program', () => {
  it('runs without a shell, in the C locale, with a PATH that has sbin', async () => {
    expect(await output(exec, 'echo', ['$HOME; *'])).toBe('$HOME; *\n')
    const environment = (await output(exec, 'env', [])).trim().split('\n')
    expect(environment).toContain('LC_ALL=C')
    expect(environment.find((line) => line.startsWith('PATH='))).toMatch(/\/usr\/sbin:.*\/sbin:/)
    expect(environment).toHaveLength(2)
  })

  it('has a file behind its standard input, of which nothing is left', async () => {
    const text = `${'ü'.repeat(100_000)}\n`
    expect(await output(exec, 'cat', [], { input: text })).toBe(text)
    expect(await output(exec, 'cat', ['/dev/stdin'], { input: text })).toBe(text)
    expect(await output(exec, 'cat', [])).toBe('')
    expect(readdirSync(folder)).toEqual([])
  })

  it('answers its exit code, and fails with what it said where it must succeed', async () => {
    expect(await exec('sh', ['-c', 'echo a; echo b >&2; exit 3'])).toEqual({ code: 3, stdout: 'a\n', stderr: 'b\n' })
    expect(await fault(output(exec, 'sh', ['-c', 'echo b >&2; exit 3']))).toMatchObject({
      code: 'CommandFailed',
      message: expect.stringContaining('b'),
    })
  })

  it('is killed when it takes too long', async () => {
    const started = Date.now()
    expect(await fault(exec('sleep', ['20'], { timeout: 50 }))).toMatchObject({
      code: 'CommandFailed',
      message: expect.stringContaining('0.05 seconds'),
    })
    expect(Date.now() - started).toBeLessThan(5000)
  })

  it('that is missing is named with its package, with a prefix too', async () => {
    const nowhere = createExec({ path: folder })
    expect(await fault(nowhere('ip', []))).toMatchObject({
      code: 'MissingTool',
      remedy: expect.stringMatching(/iproute2 \(Debian\) or iproute \(RHEL\)/),
    })
    const prefixed = createExec({ prefix: ['/usr/bin/env'], path: folder })
    expect(await fault(prefixed('nft', []))).toMatchObject({
      code: 'MissingTool',
      message: 'nft is not installed',
      remedy: expect.stringContaining('nftables'),
    })
  })

  it('that may not is told apart from one that fails', async () => {
    const said = ['RTNETLINK answers: Operation not permitted', 'ovs-ofctl: connecting to unix:/x (Permission denied)']
    for (const line of said) {
      expect(await fault(exec('sh', ['-c', `echo '${line}' >&2; exit 2`]))).toMatchObject({
        code: 'NoPermission',
        message: expect.stringContaining(line),
      })
    }
  })
})

describe('the lock', () => {
  const state = join(folder, 'state')

  it('lets one run at a time in', async () => {
    const first = await lockState(state, {})
    let entered = false
    const second = lockState(state, {}).then((lock) => {
      entered = true
      return lock
    })
    await exec('sleep', ['0.2'])
    expect(entered).toBe(false)
    first.release()
    ;(await second).release()
    expect(existsSync(join(state, 'lock'))).toBe(true)
  })

  it('is held by a program that outlives the run', async () => {
    const lock = await lockState(state, {})
    const slow = createExec({ inherit: lock.fd })('sleep', ['0.5'])
    lock.release()
    const started = Date.now()
    ;(await lockState(state, {})).release()
    expect(Date.now() - started).toBeGreaterThan(300)
    await slow
  })
})
