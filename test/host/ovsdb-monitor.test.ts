import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Watch } from '../../src/host/follow.js'
import type { Bridge } from '../../src/host/ovsdb.js'
import { bridgeEvents, messageReader, watchOvsdb } from '../../src/host/ovsdb-monitor.js'

const bridge = (name: string, ...ports: readonly [string, number][]): Bridge => ({
  name,
  uplink: null,
  datapath: '',
  ports: ports.map(([port, ofport]) => ({ name: port, type: '', ofport })),
})

describe('what became of bridges', () => {
  it.each([
    ['nothing', [bridge('br-ex', ['a', 1])], [bridge('br-ex', ['a', 1])], []],
    ['a bridge that went', [bridge('br-ex'), bridge('br-up')], [bridge('br-up')], ['bridge br-ex was deleted']],
    ['a bridge that came', [], [bridge('br-ex')], ['bridge br-ex was added']],
    ['a port that went', [bridge('br-ex', ['a', 1])], [bridge('br-ex')], ['port a of bridge br-ex was deleted']],
    ['a port that came', [bridge('br-ex')], [bridge('br-ex', ['a', 1])], ['port a was added to bridge br-ex']],
    ['a port with another number', [bridge('br-ex', ['a', 1])], [bridge('br-ex', ['a', 2])], ['bridge br-ex or a port of it changed']],
  ] as const)('%s', (_, before, now, said) => {
    expect(bridgeEvents(before, now).map(({ who }) => who)).toEqual(said)
  })
})

describe('the messages of a stream', () => {
  it('are found wherever it is cut', () => {
    const sent = [{ id: 1, result: { a: 'x } { " \\ y' } }, { method: 'echo', params: ['\\"}'] }, { id: null }]
    const text = sent.map((message) => JSON.stringify(message)).join('')
    for (let size = 1; size <= text.length; size++) {
      const found: unknown[] = []
      const read = messageReader((message) => found.push(message))
      for (let at = 0; at < text.length; at += size) read(text.slice(at, at + size))
      expect(found).toEqual(sent)
    }
  })
})

describe('a watch of the database of Open vSwitch', () => {
  let folder: string
  let server: Server
  let watch: Watch
  let sockets: Socket[]
  let asked: { method?: string; id?: unknown; result?: unknown }[]
  let notices: (string | null)[]
  const listen = () =>
    new Promise<void>((resolve) => {
      server = createServer((socket) => {
        sockets.push(socket)
        socket.setEncoding('utf8')
        const read = messageReader((message) => {
          asked.push(message)
          if (message.method === 'monitor') reply(socket, { id: message.id, result: TABLES, error: null })
        })
        socket.on('data', (chunk) => read(String(chunk)))
      }).listen(join(folder, 'db.sock'), resolve)
    })
  const reply = (socket: Socket, message: object) => socket.write(JSON.stringify(message))
  const update = (updates: object) => reply(sockets.at(-1) as Socket, { method: 'update', id: null, params: [null, updates] })
  const row = (name: string) => ({ name, ports: ['set', []], external_ids: ['map', []], datapath_type: '' })
  const TABLES = { Bridge: { b1: { new: row('br-ex') }, b2: { new: row('br-int') } }, Port: {}, Interface: {} }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-db-'))
    sockets = []
    asked = []
    notices = []
    await listen()
    watch = watchOvsdb(
      folder,
      (name) => name !== 'br-int',
      (event) => notices.push(event?.who ?? null),
    )
    await vi.waitFor(() => expect(notices).toEqual([null]))
  })
  afterEach(() => {
    watch.close()
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(folder, { recursive: true })
  })

  it('tells what becomes of bridges, but not of that of the pods', async () => {
    update({ Bridge: { b2: { old: row('br-int') } } })
    update({ Port: { p1: { new: { name: 'eth0', interfaces: ['uuid', 'i1'] } } }, Interface: { i1: { new: { type: '', ofport: 3 } } } })
    update({ Bridge: { b1: { new: { ...row('br-ex'), ports: ['uuid', 'p1'] } } } })
    await vi.waitFor(() => expect(notices).toEqual([null, 'port eth0 was added to bridge br-ex']))
    update({ Bridge: { b1: { old: row('br-ex') } } })
    await vi.waitFor(() => expect(notices.at(-1)).toBe('bridge br-ex was deleted'))
  })

  it('answers the server, which would hang up otherwise', async () => {
    reply(sockets[0] as Socket, { method: 'echo', id: 'echo', params: ['still there?'] })
    await vi.waitFor(() => expect(asked.at(-1)).toEqual({ id: 'echo', result: ['still there?'], error: null }))
  })

  it('connects again when the server comes back, and says that much may have happened meanwhile', async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(() => expect(notices).toEqual([null, 'the database of Open vSwitch went']))
    await listen()
    await vi.waitFor(() => expect(notices).toEqual([null, 'the database of Open vSwitch went', null]), 5000)
  })
})
