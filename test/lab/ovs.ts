import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Namespace, offloadsOff, run } from './netns.js'

const SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema'

/** An Open vSwitch of its own in a namespace: ovsdb-server and ovs-vswitchd with the userspace data path. */
export interface OpenVSwitch {
  /** OVS_RUNDIR of this switch: `db.sock` and `<bridge>.mgmt` are in it. */
  readonly rundir: string
  /** ovs-vsctl on its database; what it printed, trimmed. Throws when it fails. */
  vsctl(...args: readonly string[]): string
  /** `ovs-ofctl COMMAND BRIDGE ARGS…` with OpenFlow 1.4; what it printed. Throws when it fails. */
  ofctl(command: string, bridge: string, ...args: readonly string[]): string
  /** Numbers of the ports of a bridge that have the flag no-flood, sorted as text. */
  noFlood(bridge: string): readonly string[]
  /** Ends ovs-vswitchd, and with it the devices of its bridges. */
  stopSwitch(): void
  /** Starts ovs-vswitchd again. */
  startSwitch(): void
  /** Ends the two daemons; the database stays in the directory. */
  stop(): void
}

/**
 * Starts Open vSwitch in the namespace, everything it writes in `dir`. It needs no kernel module (`--disable-system`), and it is
 * gone when it is stopped or the namespace closed. Keep `dir` short: a socket's path has at most 107 characters.
 */
export function startOvs(namespace: Namespace, dir: string): OpenVSwitch {
  mkdirSync(dir, { recursive: true })
  const env = { OVS_RUNDIR: dir, OVS_DBDIR: dir, OVS_LOGDIR: dir }
  const daemon = (name: string): string[] => [
    `--pidfile=${dir}/${name}.pid`,
    `--log-file=${dir}/${name}.log`,
    `--unixctl=${dir}/${name}.ctl`,
    '--detach',
    '--no-chdir',
    '-vconsole:off',
  ]
  const database = join(dir, 'conf.db')
  if (!existsSync(database)) run('ovsdb-tool', ['create', database, SCHEMA])
  const vsctl: OpenVSwitch['vsctl'] = (...args) =>
    run('ovs-vsctl', [`--db=unix:${dir}/db.sock`, '--timeout=10', ...args], { env }).stdout.trim()
  namespace.exec('ovsdb-server', [database, `--remote=punix:${dir}/db.sock`, ...daemon('ovsdb-server')], { env })
  vsctl('--no-wait', 'init')
  const startSwitch = () =>
    void namespace.exec('ovs-vswitchd', [`unix:${dir}/db.sock`, '--disable-system', ...daemon('ovs-vswitchd')], { env })
  const end = (name: string) => void run('ovs-appctl', ['-t', `${dir}/${name}.ctl`, 'exit'], { mayFail: true })
  startSwitch()
  return {
    rundir: dir,
    vsctl,
    ofctl: (command, bridge, ...args) =>
      run('ovs-ofctl', ['-O', 'OpenFlow14', command, `unix:${dir}/${bridge}.mgmt`, ...args], { env }).stdout,
    // OpenFlow 1.0 alone has the flag.
    noFlood: (bridge) =>
      [
        ...run('ovs-ofctl', ['-O', 'OpenFlow10', 'dump-ports-desc', `unix:${dir}/${bridge}.mgmt`]).stdout.matchAll(
          /^ (\d+)\(.*\n\s+config:.*NO_FLOOD/gm,
        ),
      ]
        .map(([, port]) => String(port))
        .sort(),
    stopSwitch: () => end('ovs-vswitchd'),
    startSwitch,
    stop: () => {
      for (const name of ['ovs-vswitchd', 'ovsdb-server']) end(name)
    },
  }
}

/**
 * A bridge of the userspace data path with this MAC, its own port up. br-int forwards nothing until a controller fills it, as on a
 * real node: else two patch ports between two bridges would be a loop.
 */
export function addBridge(namespace: Namespace, ovs: OpenVSwitch, name: string, mac?: string): void {
  const failMode = name === 'br-int' ? 'secure' : 'standalone'
  const hwaddr = mac ? [`other-config:hwaddr=${mac}`] : []
  ovs.vsctl('add-br', name, '--', 'set', 'bridge', name, 'datapath_type=netdev', `fail-mode=${failMode}`, ...hwaddr)
  namespace.exec('ip', ['link', 'set', name, 'up'])
  offloadsOff(namespace, name)
}

/**
 * The pair of patch ports between the external bridge and br-int, named as ovn-controller names them; `owner` is the node, with the
 * prefix of a user-defined network in front. Returns the port on the external bridge.
 */
export function addPatch(ovs: OpenVSwitch, bridge: string, owner: string): string {
  const [outside, inside] = [`patch-${bridge}_${owner}-to-br-int`, `patch-br-int-to-${bridge}_${owner}`]
  const patch = (on: string, port: string, peer: string): string[] => [
    ...['--', 'add-port', on, port],
    ...['--', 'set', 'interface', port, 'type=patch', `options:peer=${peer}`],
  ]
  ovs.vsctl(...patch(bridge, outside, inside), ...patch('br-int', inside, outside))
  return outside
}
