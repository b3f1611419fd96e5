import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { DriftEvent } from './drift.js'
import type { Watch } from './follow.js'
import { type Bridge, bridgesIn, COLUMNS, type Row, type Rows, TABLES } from './ovsdb.js'
import type { Notice } from './watch.js'

type Tables = Readonly<Record<keyof Rows, Map<string, Row>>>
/** RFC 7047 §4.1.6: rows as they are now; without `new` a row is gone. */
type Updates = Readonly<Partial<Record<keyof Rows, Readonly<Record<string, { readonly new?: Row }>>>>>

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: readonly unknown[]
  readonly result?: unknown
}

const RECONNECT_AFTER = 250

/**
 * Bridges, their ports and the numbers of these, by `monitor` of RFC 7047 §4.1.5 on `db.sock` in OVS_RUNDIR, connected again whenever
 * the server went. `isOurs` says of which bridges changes are told; those of pods on br-int come and go all the time.
 */
export function watchOvsdb(rundir: string, isOurs: (bridge: string) => boolean, notice: Notice): Watch {
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let socket: Socket | undefined
  let before: readonly Bridge[] | null = null
  const start = () => {
    const tables: Tables = { Bridge: new Map(), Port: new Map(), Interface: new Map() }
    const learn = (updates: Updates) => {
      for (const table of TABLES) {
        for (const [id, { new: row }] of Object.entries(updates[table] ?? {})) {
          if (row) tables[table].set(id, { ...tables[table].get(id), ...row })
          else tables[table].delete(id)
        }
      }
      const now = bridgesIn(tables).filter(({ name }) => isOurs(name))
      const events = before ? bridgeEvents(before, now) : []
      // What happened while nobody listened is not known.
      if (before === null) notice(null)
      before = now
      for (const event of events) notice(event)
    }
    const read = messageReader((message) => {
      if (message.method === 'echo') socket?.write(JSON.stringify({ id: message.id, result: message.params, error: null }))
      else if (message.method === 'update') learn((message.params?.[1] ?? {}) as Updates)
      else if (message.id === 'bridges') learn((message.result ?? {}) as Updates)
    })
    socket = connect(join(rundir, 'db.sock'))
    socket.setEncoding('utf8')
    socket.on('connect', () => {
      const requests = Object.fromEntries(TABLES.map((table) => [table, { columns: COLUMNS[table] }]))
      socket?.write(JSON.stringify({ method: 'monitor', id: 'bridges', params: ['Open_vSwitch', null, requests] }))
    })
    socket.on('data', (chunk: unknown) => read(String(chunk)))
    // 'close' follows, whatever went wrong.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (closed) return
      if (before) notice({ subsystem: 'openflow', source: 'ovsdb', who: 'the database of Open vSwitch went' })
      before = null
      timer = setTimeout(start, RECONNECT_AFTER)
    })
  }
  start()
  return {
    close() {
      closed = true
      clearTimeout(timer)
      socket?.destroy()
    },
  }
}

/** What became of bridges, one event for each. */
export function bridgeEvents(before: readonly Bridge[], now: readonly Bridge[]): readonly DriftEvent[] {
  const event = (who: string): DriftEvent => ({ subsystem: 'openflow', source: 'ovsdb', who })
  const [old, anew] = [before, now].map((bridges) => new Map(bridges.map((bridge) => [bridge.name, bridge])))
  const names = [...new Set([...before, ...now].map(({ name }) => name))].sort()
  return names.flatMap((name) => {
    const [was, is] = [old?.get(name), anew?.get(name)]
    if (!is) return event(`bridge ${name} was deleted`)
    if (!was) return event(`bridge ${name} was added`)
    const ports = (bridge: Bridge) => new Set(bridge.ports.map((port) => port.name))
    const gone = was.ports.filter((port) => !ports(is).has(port.name))
    if (gone.length > 0) return event(`port ${gone[0]?.name} of bridge ${name} was deleted`)
    const added = is.ports.filter((port) => !ports(was).has(port.name))
    if (added.length > 0) return event(`port ${added[0]?.name} was added to bridge ${name}`)
    return JSON.stringify(was) === JSON.stringify(is) ? [] : event(`bridge ${name} or a port of it changed`)
  })
}

/** Splits a stream into JSON objects: nothing stands between them, so braces outside of strings are counted. */
export function messageReader(take: (message: Message) => void): (chunk: string) => void {
  let text = ''
  let at = 0
  let depth = 0
  let quoted = false
  return (chunk) => {
    text += chunk
    for (; at < text.length; at++) {
      const char = text[at]
      if (quoted) {
        // An escaped character may not have arrived yet.
        if (char === '\\') at++
        else if (char === '"') quoted = false
      } else if (char === '"') quoted = true
      else if (char === '{') depth++
      else if (char === '}' && --depth === 0) {
        take(JSON.parse(text.slice(0, at + 1)) as Message)
        text = text.slice(at + 1)
        at = -1
      }
    }
  }
}
