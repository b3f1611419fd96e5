import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { atExit } from './clean-up.js'

/** What a command said. */
export interface Said {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface ExecOptions {
  readonly input?: string
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** A status other than 0 is returned instead of thrown. */
  readonly mayFail?: boolean
  readonly cwd?: string
}

/** A network namespace of this run. Everything else (files, users, processes) is that of the machine. */
export interface Namespace {
  readonly name: string
  /** Runs a command in the namespace and waits for it. Throws, with what it said, when it fails. */
  exec(command: string, args: readonly string[], options?: ExecOptions): Said
  /** Starts a command in the namespace; the child's pid is that of the command itself. */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): ChildProcess
  /** Ids of the processes whose network is this namespace, read from the kernel now: a recorded id may be someone else's by then. */
  processes(): readonly number[]
  /** Ends every process in the namespace and removes it. Again is fine. */
  close(): void
}

/** The arguments of nsenter that enter a namespace. Not `ip netns exec`, which would make a mount namespace as well. */
export const entering = (name: string): readonly string[] => [`--net=/run/netns/${name}`, '--']

/** Runs a command on the machine itself. Throws, with what it said, when it fails. */
export function run(command: string, args: readonly string[], options: ExecOptions = {}): Said {
  const done = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.input === undefined ? { stdio: ['ignore', 'pipe', 'pipe'] } : { input: options.input }),
  })
  if (done.error) throw new Error(`${command}: ${done.error.message}`)
  const said = { status: done.status ?? 128, stdout: done.stdout, stderr: done.stderr }
  if (said.status !== 0 && !options.mayFail)
    throw new Error(`${[command, ...args].join(' ')}: status ${said.status}\n${said.stderr}${said.stdout}`)
  return said
}

/**
 * Makes a namespace `egretta-<pid of this process>-<label>`, its loopback up; a number follows where the name is taken.
 * It goes when it is closed, and when this process ends in any way but SIGKILL.
 */
export function createNamespace(label: string): Namespace {
  const name = add(`egretta-${process.pid}-${label}`)
  const exec: Namespace['exec'] = (command, args, options) => run('nsenter', [...entering(name), command, ...args], options)
  const processes = (): readonly number[] =>
    run('ip', ['netns', 'pids', name], { mayFail: true }).stdout.split('\n').filter(Boolean).map(Number)
  const namespace: Namespace = {
    name,
    exec,
    spawn: (command, args, options = {}) => spawn('nsenter', [...entering(name), command, ...args], options),
    processes,
    close: () => {
      forget()
      end(processes)
      run('ip', ['netns', 'del', name], { mayFail: true })
    },
  }
  const forget = atExit(() => namespace.close())
  exec('ip', ['link', 'set', 'lo', 'up'])
  return namespace
}

function add(wanted: string): string {
  for (let again = 1; ; again++) {
    const name = again === 1 ? wanted : `${wanted}${again}`
    const said = run('ip', ['netns', 'add', name], { mayFail: true })
    if (said.status === 0) return name
    if (!said.stderr.includes('File exists') || again > 99) throw new Error(`ip netns add ${name}: ${said.stderr}`)
  }
}

/** TERM, up to two seconds of grace, then KILL. */
function end(processes: () => readonly number[]): void {
  const started = Date.now()
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; ; ) {
    const left = processes()
    if (left.length === 0 || Date.now() - started > 5000) return
    for (const pid of left) signalTo(pid, signal)
    signal = Date.now() - started > 2000 ? 'SIGKILL' : 0
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }
}

function signalTo(pid: number, signal: NodeJS.Signals | 0): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself in between.
  }
}

export interface End {
  readonly namespace: Namespace
  readonly device: string
  readonly mac?: string
}

/**
 * A virtual cable between two namespaces, both ends up, offloads off: an AF_PACKET reader such as the userspace data path
 * of Open vSwitch would otherwise see unfinished checksums, and TCP would time out.
 */
export function cable(a: End, b: End): void {
  run('ip', ['link', 'add', a.device, 'netns', a.namespace.name, 'type', 'veth', 'peer', 'name', b.device, 'netns', b.namespace.name])
  for (const { namespace, device, mac } of [a, b]) {
    if (mac) namespace.exec('ip', ['link', 'set', device, 'address', mac])
    namespace.exec('ip', ['link', 'set', device, 'up'])
    offloadsOff(namespace, device)
  }
}

/** `ethtool -K DEVICE tx off tso off gso off gro off`, by the ioctl behind it: ethtool is not always there, perl is. */
export function offloadsOff(namespace: Namespace, device: string): void {
  const script = 'socket(S,2,2,0) or die; for (0x1f,0x24,0x17,0x2c) { $v=pack("LL",$_,0); $r=pack("a16P",$ARGV[0],$v); ioctl(S,0x8946,$r) }'
  namespace.exec('perl', ['-e', script, device])
}

/** A Linux bridge that forwards at once: no spanning tree, no snooping. */
export function bridge(namespace: Namespace, device: string, ports: readonly string[]): void {
  namespace.exec('ip', ['link', 'add', device, 'type', 'bridge', 'forward_delay', '0', 'stp_state', '0', 'mcast_snooping', '0'])
  for (const port of ports) namespace.exec('ip', ['link', 'set', port, 'master', device])
  namespace.exec('ip', ['link', 'set', device, 'up'])
}

/** Waits until `true`, 20 ms between looks. Throws after `seconds`, naming what was waited for. */
export async function until(what: string, seconds: number, look: () => boolean): Promise<void> {
  for (const started = Date.now(); !look(); await sleep(20)) {
    if (Date.now() - started > seconds * 1000) throw new Error(`after ${seconds} s still no ${what}`)
  }
}
