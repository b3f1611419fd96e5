import { connect } from 'node:net'
import { join } from 'node:path'
import { HostFault } from './exec.js'

/** A bridge of Open vSwitch as its database has it. */
export interface Bridge {
  readonly name: string
  /** external_ids:bridge-uplink: the port that ovnkube, or who made the bridge, calls its uplink. */
  readonly uplink: string | null
  /** `netdev` for the datapath in user space, `system` or empty for that of the kernel. */
  readonly datapath: string
  readonly ports: readonly BridgePort[]
}

export interface BridgePort {
  readonly name: string
  /** `patch`, `internal`, …; empty for a device of the system. A bond has several interfaces and no type. */
  readonly type: string
  /** OpenFlow port number; null while Open vSwitch has not opened the port. */
  readonly ofport: number | null
}

const TIMEOUT = 5_000

/**
 * Every bridge with its ports, read over OVSDB (RFC 7047) from `db.sock` in OVS_RUNDIR, sorted by name: ovs-ofctl cannot see port
 * names of more than 15 characters, which those of patch ports are. Null when no ovsdb-server listens there.
 */
export async function readBridges(rundir: string): Promise<readonly Bridge[] | null> {
  const reply = await ask(join(rundir, 'db.sock'), {
    method: 'transact',
    id: 0,
    params: ['Open_vSwitch', ...TABLES.map((table) => ({ op: 'select', table, where: [], columns: ['_uuid', ...COLUMNS[table]] }))],
  })
  if (reply === null) return null
  const [bridges = [], ports = [], interfaces = []] = (reply as { result: readonly { rows?: readonly Row[] }[] }).result.map(
    ({ rows = [] }) => new Map(rows.map((row) => [members(row._uuid)[0] ?? row.name, row])),
  )
  return bridgesIn({ Bridge: new Map(bridges), Port: new Map(ports), Interface: new Map(interfaces) })
}

/** The tables in which the bridges are, and what of them is read. */
export const COLUMNS = {
  Bridge: ['name', 'ports', 'external_ids', 'datapath_type'],
  Port: ['name', 'interfaces'],
  Interface: ['type', 'ofport'],
} as const
export const TABLES = ['Bridge', 'Port', 'Interface'] as const

/** Rows of the tables by their UUID. */
export type Rows = Readonly<Record<(typeof TABLES)[number], ReadonlyMap<unknown, Row>>>

/** The bridges that rows describe, sorted by name. */
export function bridgesIn({ Bridge: bridges, Port: portOf, Interface: interfaceOf }: Rows): readonly Bridge[] {
  const readPort = (row: Row): BridgePort => {
    const [only, ...others] = members(row.interfaces).map((id) => interfaceOf.get(id))
    const ofport = others.length === 0 ? members(only?.ofport)[0] : undefined
    return {
      name: row.name as string,
      type: others.length === 0 ? ((only?.type as string | undefined) ?? '') : '',
      ofport: typeof ofport === 'number' && ofport > 0 ? ofport : null,
    }
  }
  return [...bridges.values()]
    .map((row) => ({
      name: row.name as string,
      uplink: new Map((row.external_ids as ['map', [string, string][]])[1]).get('bridge-uplink') ?? null,
      datapath: row.datapath_type as string,
      ports: members(row.ports)
        .map((id) => portOf.get(id))
        .filter((row) => row !== undefined)
        .map(readPort)
        .sort(byName),
    }))
    .sort(byName)
}

export type Row = Readonly<Record<string, unknown>>

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)

/** RFC 7047 writes a set of one as its member; ids are told apart by their text. */
function members(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return value === undefined ? [] : [value]
  if (value[0] === 'set') return (value[1] as unknown[]).flatMap(members)
  return [value[1]]
}

/** One question to a server that answers one JSON text. Null when nobody listens on the socket. */
function ask(path: string, question: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let text = ''
    const end = (act: () => void) => {
      socket.destroy()
      act()
    }
    const fail = (message: string) =>
      end(() =>
        reject(
          new HostFault(
            'CommandFailed',
            `Open vSwitch's database at ${path}: ${message}`,
            'See whether ovsdb-server is well, then run again.',
          ),
        ),
      )
    socket.setEncoding('utf8')
    socket.setTimeout(TIMEOUT, () => fail(`no answer within ${TIMEOUT / 1000} seconds`))
    socket.on('connect', () => socket.write(JSON.stringify(question)))
    socket.on('data', (chunk: string) => {
      text += chunk
      // A whole answer ends with a brace; one inside of it costs a vain attempt to parse.
      if (!chunk.endsWith('}')) return
      let reply: { error?: unknown }
      try {
        reply = JSON.parse(text)
      } catch {
        return
      }
      if (reply.error) fail(JSON.stringify(reply.error))
      else end(() => resolve(reply))
    })
    socket.on('end', () => fail('it closed the connection'))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') end(() => resolve(null))
      else if (error.code === 'EACCES')
        end(() =>
          reject(new HostFault('NoPermission', `${path} may not be opened`, 'Run as root, or name the right folder in OVS_RUNDIR.')),
        )
      else fail(error.message)
    })
  })
}
