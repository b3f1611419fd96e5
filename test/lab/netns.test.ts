import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeWith } from '../requires.js'
import { createNamespace, run, until } from './netns.js'

const names = (): string => run('ip', ['netns', 'list']).stdout

describeWith(['linux', 'root', 'ip'], 'a network namespace', () => {
  it('runs commands, says what they said, and throws when they fail', () => {
    const namespace = createNamespace('try')
    expect(namespace.exec('ip', ['-br', 'link']).stdout).toMatch(/^lo +UNKNOWN .*\n$/)
    expect(namespace.exec('cat', [], { input: 'x' }).stdout).toBe('x')
    expect(namespace.exec('false', [], { mayFail: true }).status).toBe(1)
    expect(() => namespace.exec('ip', ['link', 'show', 'ens9'])).toThrow(/ip link show ens9: status 1\n.*ens9/)
    namespace.close()
  })

  it('has a name of its own, also where the label is taken', () => {
    const [one, two] = [createNamespace('same'), createNamespace('same')]
    expect(one.name).not.toBe(two.name)
    one.close()
    expect(names()).not.toMatch(new RegExp(`^${one.name}( |$)`, 'm'))
    expect(names()).toMatch(new RegExp(`^${two.name}( |$)`, 'm'))
    two.close()
  })

  it('ends what runs in it when it closes, deaf processes included', async () => {
    const namespace = createNamespace('deaf')
    const child = namespace.spawn('sh', ['-c', 'trap "" TERM; while :; do sleep 0.1; done'])
    await until('process', 5, () => namespace.processes().length > 0)
    namespace.close()
    await until('end of the process', 5, () => child.signalCode !== null)
    expect(child.signalCode).toBe('SIGKILL')
    namespace.close()
  })

  it.each(['throws', 'exits', 'SIGINT', 'SIGTERM', 'SIGHUP'])('goes when its process ends: %s', async (how) => {
    const script = `
      import { createNamespace } from ${JSON.stringify(join(import.meta.dirname, 'netns.ts'))}
      createNamespace('gone').spawn('sleep', ['60'])
      console.log('made')
      ${how === 'throws' ? 'throw new Error("as told")' : how === 'exits' ? 'process.exit(0)' : 'setInterval(() => {}, 1000)'}`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString()
    })
    await until('namespace', 20, () => said.includes('made'))
    if (how.startsWith('SIG')) child.kill(how as NodeJS.Signals)
    await until('end', 20, () => child.exitCode !== null)
    expect(names()).not.toContain(`egretta-${child.pid}-`)
  })
})
