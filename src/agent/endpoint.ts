import { type Answers, ask, DEFAULT_LISTEN, parseListen } from '../host/endpoint.js'
import { HostFault } from '../host/exec.js'
import { METRICS_TYPE, printMetrics } from './metrics.js'
import { type AgentStatus, obstacles } from './status.js'
import { printStatus } from './status-report.js'

/** What is told of the reasons why a node is not ready. */
const REASONS = 5

/** What the daemon answers: `/healthz` for a prober, `/status` for a person or a program, `/metrics` for Prometheus. */
export function statusAnswers(current: () => AgentStatus): Answers {
  const json = (status: 200 | 503, value: unknown) => ({ status, type: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` })
  return {
    '/healthz': () => {
      const status = current()
      const reasons = obstacles(status)
      const more = reasons.length > REASONS ? { more: reasons.length - REASONS } : {}
      return status.ready ? json(200, { ready: true }) : json(503, { ready: false, reasons: reasons.slice(0, REASONS), ...more })
    },
    '/status': () => json(200, current()),
    '/metrics': async () => ({ status: 200, type: METRICS_TYPE, body: await printMetrics(current()) }),
  }
}

export interface StatusRequest {
  /** Where the daemon listens, as it was given to it. */
  readonly listen?: string
  readonly output: 'text' | 'json'
}

/** The text of `egretta-agent status` and its exit code: 0 ready, 4 not ready. Fails with HostFault when no agent answers. */
export async function askStatus({
  listen = DEFAULT_LISTEN,
  output,
}: StatusRequest): Promise<{ readonly exitCode: 0 | 4; readonly text: string }> {
  const where = parseListen(listen)
  if (!where)
    throw new HostFault('CommandFailed', `"${listen}" is no address to ask`, 'Give --listen as ADDRESS:PORT, an IPv6 address in brackets.')
  const { status, body } = await ask(where, '/status')
  const found = status === 200 ? readStatus(body) : null
  if (!found) {
    throw new HostFault(
      'CommandFailed',
      `what answers on ${listen} is no egretta-agent of this version`,
      'See which process listens there.',
    )
  }
  return { exitCode: found.ready ? 0 : 4, text: output === 'json' ? body : printStatus(found) }
}

function readStatus(body: string): AgentStatus | null {
  try {
    const value = JSON.parse(body) as AgentStatus | null
    return value?.kind === 'AgentStatus' ? value : null
  } catch {
    return null
  }
}
