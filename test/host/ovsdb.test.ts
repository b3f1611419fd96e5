import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readBridges } from '../../src/host/ovsdb.js'

const id = (name: string) => ['uuid', name]
const ANSWER = {
  id: 0,
  error: null,
  result: [
    {
      rows: [
        {
          name: 'br-ex',
          ports: ['set', [id('p1'), id('p2'), id('p3'), id('p4')]],
          external_ids: ['map', [['bridge-uplink', 'bond0']]],
          datapath_type: 'netdev',
        },
        { name: 'br-empty', ports: ['set', []], external_ids: ['map', []], datapath_type: '' },
      ],
    },
    {
      rows: [
        { _uuid: id('p1'), name: 'patch-br-ex_node-a-to-br-int', interfaces: id('i1') },
        { _uuid: id('p2'), name: 'br-ex', interfaces: id('i2') },
        { _uuid: id('p3'), name: 'bond0', interfaces: ['set', [id('i3'), id('i4')]] },
        { _uuid: id('p4'), name: 'broken', interfaces: id('i5') },
      ],
    },
    {
      rows: [
        { _uuid: id('i1'), type: 'patch', ofport: 7 },
        { _uuid: id('i2'), type: 'internal', ofport: 65534 },
        { _uuid: id('i3'), type: '', ofport: 1 },
        { _uuid: id('i4'), type: '', ofport: 2 },
        { _uuid: id('i5'), type: '', ofport: ['set', []] },
      ],
    },
  ],
}

describe('the database of Open vSwitch', () => {
  let folder: string
  let server: Server | null
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'egretta-db-'))
    server = null
  })
  afterEach(() => {
    server?.close()
    rmSync(folder, { recursive: true })
  })
  const serve = (answer: (socket: Socket) => void) =>
    new Promise<void>((resolve) => {
      server = createServer((socket) => socket.once('data', () => answer(socket))).listen(join(folder, 'db.sock'), resolve)
    })

  it('says the bridges and the numbers of their ports, in whatever pieces it answers', async () => {
    await serve((socket) => {
      const text = JSON.stringify(ANSWER)
      const pieces = text.split(/(?<=\})/)
      const next = () => {
        const piece = pieces.shift()
        if (piece === undefined) return
        socket.write(piece)
        setTimeout(next, 1)
      }
      next()
    })
    expect(await readBridges(folder)).toEqual([
      { name: 'br-empty', uplink: null, datapath: '', ports: [] },
      {
        name: 'br-ex',
        uplink: 'bond0',
        datapath: 'netdev',
        ports: [
          { name: 'bond0', type: '', ofport: null },
          { name: 'br-ex', type: 'internal', ofport: 65534 },
          { name: 'broken', type: '', ofport: null },
          { name: 'patch-br-ex_node-a-to-br-int', type: 'patch', ofport: 7 },
        ],
      },
    ])
  })

  it('is null where none is', async () => {
    expect(await readBridges(folder)).toBeNull()
  })

  it('fails when it answers an error or hangs up', async () => {
    await serve((socket) => socket.write(JSON.stringify({ id: 0, result: null, error: 'unknown database' })))
    await expect(readBridges(folder)).rejects.toThrow(/unknown database/)
    server?.close()
    rmSync(join(folder, 'db.sock'), { force: true })
    await serve((socket) => socket.end('{"id":'))
    await expect(readBridges(folder)).rejects.toThrow(/closed the connection/)
  })
})
