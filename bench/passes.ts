// Times passes of the agent beside the tools that it uses; prints one line of JSON. `passes.ts FOLDER RUNDIR BRIDGE NODE RUNS IDLE`, in the
// network of the host that it measures.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from '../src/agent/run.js'
import { createExec, output } from '../src/host/exec.js'
import type { Change } from '../src/model/change.js'
import type { Entry } from '../src/syntax/languages.js'
import { nftFile, nftObject } from '../src/syntax/nftables.js'
import { type Flow, printFlow } from '../src/syntax/openflow.js'
import type { Measured } from './agent.js'

const [folder = '', rundir = '', bridge = '', node = '', runs = '3', idle = '60'] = process.argv.slice(2)
const exec = createExec()
// As it is installed: what translates the source on the fly makes it slower.
const { run } = (await import(join(import.meta.dirname, '../dist/agent/run.js'))) as typeof import('../src/agent/run.js')
const socket = `unix:${join(rundir, `${bridge}.mgmt`)}`
const bundleOf = (variant: 0 | 1): string => join(folder, String(variant), 'nodes', node)

async function pass(variant: 0 | 1, command: 'diff' | 'apply' = 'apply'): Promise<Report> {
  const place = { node, phase: 'steady' as const, stateDir: join(folder, 'state'), rundir }
  const report = await run({ ...place, command, bundle: bundleOf(variant), maxRemove: 50, allowOlder: true })
  if (report.exitCode === 1) throw new Error(JSON.stringify(report.problems))
  return report
}

/** What shows all that a pass compares. */
async function readBack(): Promise<void> {
  await output(exec, 'nft', ['-j', 'list', 'ruleset'])
  await output(exec, 'ovs-ofctl', ['-O', 'OpenFlow14', '--no-names', '--no-stats', 'dump-flows', socket])
  await output(exec, 'ip', ['-j', 'addr', 'show'])
  await output(exec, 'ip', ['-j', 'neigh', 'show', 'nud', 'all'])
  for (const family of ['-4', '-6']) {
    await output(exec, 'ip', [family, '-j', 'route', 'show', 'table', 'all'])
    await output(exec, 'ip', [family, '-j', 'rule', 'show'])
  }
}

/** What the tools are to be told so that they make changes, and nothing else. */
interface Orders {
  readonly flows: string
  readonly nft: string
  readonly ip: string
}

function ordersOf(changes: readonly Change<Entry>[]): Orders {
  const flows: string[] = []
  const nft: string[] = []
  const neighbors: string[] = []
  for (const { op, entry, from } of changes) {
    const one = entry ?? from
    if (one === null) continue
    if ('cookie' in one) flows.push(op === 'delete' ? `delete_strict ${withoutActions(one)}` : `add ${printFlow(one)}`)
    else if ('kind' in one) {
      if (from) nft.push(JSON.stringify({ delete: nftObject(from as typeof one) }))
      if (entry) nft.push(JSON.stringify({ add: nftObject(entry as typeof one) }))
    } else if ('lladdr' in one) {
      neighbors.push(
        op === 'delete'
          ? `neigh del ${one.dst.text} dev ${one.dev}`
          : `neigh replace ${one.dst.text} lladdr ${one.lladdr} dev ${one.dev} nud permanent protocol 230`,
      )
    }
  }
  return { flows: flows.join('\n'), nft: nftFile(nft), ip: neighbors.join('\n') }
}

/** A flow as `delete_strict` takes it. */
const withoutActions = (entry: Flow): string =>
  printFlow(entry)
    .replace(/,?actions=.*/, '')
    .replace(/^cookie=(\w+)/, 'cookie=$1/-1')

async function obey({ flows, nft, ip }: Orders): Promise<void> {
  await output(exec, 'nft', ['-j', '-f', '-'], { input: nft })
  await output(exec, 'ip', ['-batch', '-'], { input: `${ip}\n` })
  await output(exec, 'ovs-ofctl', ['-O', 'OpenFlow14', '--bundle', 'add-flows', socket, '-'], { input: `${flows}\n` })
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const begin = process.hrtime.bigint()
  await act()
  return Number(process.hrtime.bigint() - begin) / 1e9
}

/** Ticks of the processor that a process and its ended children took, and those of children that go on. */
function ticks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.reduce((sum, child) => sum + ticks(Number(child)), own)
}

const TICKS_A_SECOND = 100
/** As the units of the package have it. */
const LEAN = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '65536' }

/** What an agent takes that has nothing to do. */
async function idling(seconds: number): Promise<Measured['idle']> {
  const program = [join(import.meta.dirname, '../dist/agent/main.js'), 'run', '--source', bundleOf(0), '--node', node]
  const options = ['--state-dir', join(folder, 'daemon'), '--settle', '0', '--on-term', 'leave', '--listen', 'none']
  const agent: ChildProcess = spawn(process.execPath, [...program, ...options], {
    env: { ...process.env, OVS_RUNDIR: rundir, ...LEAN },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const { pid = 0 } = agent
  try {
    await sleep(30_000)
    const before = ticks(pid)
    await sleep(seconds * 1000)
    const cpu = ((ticks(pid) - before) / TICKS_A_SECOND / seconds) * 100
    const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
    return { seconds, cpu, memory }
  } finally {
    agent.kill('SIGTERM')
  }
}

await pass(0)
const there = ordersOf((await pass(1, 'diff')).changes)
const changes = (await pass(1)).changes.length
const back = ordersOf((await pass(0, 'diff')).changes)
await pass(0)
await readBack()
const passes: { pass: number; raw: number }[] = []
for (let count = 0; count < Number(runs); count++) passes.push({ raw: await timed(readBack), pass: await timed(() => pass(0)) })
const changing: { pass: number; raw: number }[] = []
for (let count = 0; count < Number(runs); count++) {
  const forth = count % 2 === 0
  const raw = await timed(async () => {
    await readBack()
    await obey(forth ? there : back)
    await readBack()
  })
  const again: 0 | 1 = forth ? 1 : 0
  if ((await pass(again, 'diff')).changes.length > 0) throw new Error('the tools made something else')
  const target: 0 | 1 = forth ? 0 : 1
  let report: Report | undefined
  const seconds = await timed(async () => {
    report = await pass(target)
  })
  if (report?.changes.length !== changes) throw new Error(`${report?.changes.length} changes instead of ${changes}`)
  changing.push({ pass: seconds, raw })
  await obey(forth ? there : back)
}
const measured: Measured = {
  passes,
  changes: changing,
  changed: changes,
  idle: await idling(Number(idle)),
}
process.stdout.write(`${JSON.stringify(measured)}\n`)
