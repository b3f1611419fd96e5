import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answers, ask, type Endpoint, parseListen, printListen, serve } from '../../src/host/endpoint.js'

const open: Endpoint[] = []
afterEach(() => {
  for (const endpoint of open.splice(0)) endpoint.close()
})

async function start(answers: Answers = {}, host = '127.0.0.1'): Promise<Endpoint> {
  const endpoint = await serve({ host, port: 0 }, answers)
  open.push(endpoint)
  return endpoint
}

const text = (body: string) => ({ status: 200, type: 'text/plain', body }) as const

describe('an endpoint', () => {
  it.each(['127.0.0.1', '::1'])('answers on %s, whatever follows the path', async (host) => {
    const endpoint = await start({ '/status': () => text('grün\n') }, host)
    expect(await ask(endpoint, '/status')).toEqual({ status: 200, body: 'grün\n' })
    expect(await ask(endpoint, '/status?verbose=1')).toEqual({ status: 200, body: 'grün\n' })
  })

  it('says what there is to ask for', async () => {
    const endpoint = await start({ '/status': () => text(''), '/healthz': () => text('') })
    const everything = { status: 404, body: 'Not here; ask for /healthz, /status\n' }
    for (const path of ['/', '/__proto__', '/constructor', '/status/', '//status']) expect(await ask(endpoint, path)).toEqual(everything)
  })

  it('takes no orders, and answers HEAD without a body', async () => {
    const endpoint = await start({ '/status': () => text('four') })
    const send = async (method: string) => {
      const [response] = await once(
        request({ host: endpoint.host, port: endpoint.port, path: '/status', method, agent: false }).end(),
        'response',
      )
      const body: Buffer[] = []
      for await (const chunk of response) body.push(chunk)
      return [response.statusCode, response.headers.allow, response.headers['content-length'], Buffer.concat(body).toString()]
    }
    expect(await send('POST')).toEqual([405, 'GET, HEAD', '18', 'Only GET and HEAD\n'])
    expect(await send('HEAD')).toEqual([200, undefined, '4', ''])
  })

  it('survives an answer that fails', async () => {
    const answers: Answers = {
      '/bad': () => {
        throw new Error('no metrics')
      },
      '/good': () => text('good'),
    }
    const endpoint = await start(answers)
    expect(await ask(endpoint, '/bad')).toEqual({ status: 500, body: 'no metrics\n' })
    expect(await ask(endpoint, '/good')).toEqual({ status: 200, body: 'good' })
  })

  it('is gone at once when it is closed, whoever is connected', async () => {
    const endpoint = await start({ '/status': () => text('') })
    const socket = connect(endpoint.port, endpoint.host)
    await once(socket, 'connect')
    // A request of which the rest never comes.
    socket.write('GET /status HTTP/1.1\r\nHost: x')
    socket.on('error', () => {})
    const closed = once(socket, 'close')
    // Answered after the bytes of the other connection were sent.
    await ask(endpoint, '/status')
    endpoint.close()
    await closed
    await expect(ask(endpoint, '/status')).rejects.toThrow(`no agent answers on 127.0.0.1:${endpoint.port}: `)
  })

  it('says who is in the way of it', async () => {
    const { host, port } = await start()
    await expect(serve({ host, port }, {})).rejects.toThrow(`another process listens on 127.0.0.1:${port}`)
    await expect(serve({ host: '192.0.2.1', port: 0 }, {})).rejects.toThrow('nobody can listen on 192.0.2.1:0: ')
  })
})

describe('an address to listen on', () => {
  it('is an address or localhost with a port', () => {
    for (const good of ['127.0.0.1:9186', '[::1]:0', '0.0.0.0:65535', 'localhost:80']) {
      const found = parseListen(good)
      expect(found && printListen(found)).toBe(good)
    }
    for (const bad of [
      '',
      '9186',
      ':9186',
      '127.0.0.1',
      '127.0.0.1:',
      '127.0.0.1:65536',
      '::1:80',
      '[127.0.0.1]:80',
      'example.com:80',
      '1.2.3:4',
    ]) {
      expect(parseListen(bad)).toBe(null)
    }
  })
})
