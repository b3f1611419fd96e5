import { createServer, get, type Server } from 'node:http'
import { isIP } from 'node:net'
import { HostFault } from './exec.js'

/** What is answered to one path. */
export interface Answer {
  readonly status: 200 | 503
  readonly type: string
  readonly body: string
}

/** By path, such as `/healthz`. One that fails is answered with status 500. */
export type Answers = Readonly<Record<string, () => Answer | Promise<Answer>>>

/** Where to listen, or whom to ask. */
export interface Listen {
  readonly host: string
  readonly port: number
}

/** Loopback: what it tells is for this host alone, unless somebody says otherwise. */
export const DEFAULT_LISTEN = '127.0.0.1:9186'

export interface Endpoint extends Listen {
  /** Stops at once, whoever still reads. */
  close(): void
}

/** `ADDRESS:PORT` with an IPv6 address in brackets, or `localhost:PORT`; null for anything else. */
export function parseListen(text: string): Listen | null {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  const isHost = bracketed === undefined ? isIP(host) === 4 || host === 'localhost' : isIP(host) === 6
  return isHost && Number(port) <= 65_535 ? { host, port: Number(port) } : null
}

export const printListen = ({ host, port }: Listen): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** One who does not send a whole request within this many milliseconds is let go. */
const PATIENCE = 5_000
/** More than any set of scrapers, and few enough that nobody can use up the descriptors of the agent. */
const CONNECTIONS = 64

/** Answers GET and HEAD over HTTP/1.1. Port 0 is any that is free. Fails with HostFault when nobody can listen there. */
export function serve(listen: Listen, answers: Answers): Promise<Endpoint> {
  const server = createServer(
    { requestTimeout: PATIENCE, headersTimeout: PATIENCE, connectionsCheckingInterval: PATIENCE },
    (request, response) => {
      const reply = (status: number, type: string, body: string, headers: Readonly<Record<string, string>> = {}) => {
        response.writeHead(status, {
          'content-type': type,
          'content-length': Buffer.byteLength(body),
          'cache-control': 'no-store',
          ...headers,
        })
        response.end(request.method === 'HEAD' ? undefined : body)
      }
      const answer = new Map(Object.entries(answers)).get(request.url?.replace(/\?.*$/s, '') ?? '')
      if (!answer) return reply(404, PLAIN, `Not here; ask for ${Object.keys(answers).sort().join(', ')}\n`)
      if (request.method !== 'GET' && request.method !== 'HEAD') return reply(405, PLAIN, 'Only GET and HEAD\n', { allow: 'GET, HEAD' })
      Promise.resolve()
        .then(answer)
        .then(
          ({ status, type, body }) => reply(status, type, body),
          (error: unknown) => reply(500, PLAIN, `${error instanceof Error ? error.message : String(error)}\n`),
        )
    },
  )
  server.maxConnections = CONNECTIONS
  return listening(server, listen)
}

const PLAIN = 'text/plain; charset=utf-8'

function listening(server: Server, { host, port }: Listen): Promise<Endpoint> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFault({ host, port }, error)))
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      // Out of descriptors for a moment: who asks then gets no answer, and the agent goes on.
      server.on('error', () => {})
      const found = server.address()
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resolve({ host, port: typeof found === 'object' && found ? found.port : port, close })
    })
  })
}

function listenFault(listen: Listen, { code, message }: NodeJS.ErrnoException): HostFault {
  const where = printListen(listen)
  if (code === 'EADDRINUSE') {
    return new HostFault('CommandFailed', `another process listens on ${where}`, 'Give the agent another address with --listen.')
  }
  return code === 'EACCES'
    ? new HostFault('NoPermission', `listening on ${where} is not allowed`, 'Give the agent a port from 1024 on with --listen.')
    : new HostFault('CommandFailed', `nobody can listen on ${where}: ${message}`, 'Give --listen an address of this host and a free port.')
}

/** What an endpoint answered. */
export interface Asked {
  readonly status: number
  readonly body: string
}

/** Asks an endpoint for a path. Fails with HostFault when nobody answers within five seconds. */
export function ask({ host, port }: Listen, path: string): Promise<Asked> {
  const where = printListen({ host, port })
  const remedy = 'See whether egretta-agent runs on this host, and give --listen the address that it was started with.'
  return new Promise((resolve, reject) => {
    const refuse = (why: string) => reject(new HostFault('CommandFailed', `no agent answers on ${where}: ${why}`, remedy))
    // One connection per question, and its end is that of the answer.
    const request = get({ host, port, path, agent: false, signal: AbortSignal.timeout(PATIENCE) }, (response) => {
      const body: Buffer[] = []
      response.on('data', (chunk: Buffer) => body.push(chunk))
      response.on('error', ({ message }) => refuse(message))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(body).toString() }))
    })
    request.on('error', ({ name, message }) =>
      refuse(name === 'AbortError' || name === 'TimeoutError' ? 'it took over five seconds' : message),
    )
  })
}
