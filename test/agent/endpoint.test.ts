import { afterEach, expect, it } from 'vitest'
import { askStatus, statusAnswers } from '../../src/agent/endpoint.js'
import { type AgentStatus, recordPass, recordSource } from '../../src/agent/status.js'
import { ask, type Endpoint, printListen, serve } from '../../src/host/endpoint.js'
import { at, EMPTY, end, holds, READY, report, seen } from './statuses.js'

const open: Endpoint[] = []
afterEach(() => {
  for (const endpoint of open.splice(0)) endpoint.close()
})

async function start(status: AgentStatus): Promise<Endpoint> {
  const endpoint = await serve(
    { host: '127.0.0.1', port: 0 },
    statusAnswers(() => status),
  )
  open.push(endpoint)
  return endpoint
}

const held = [
  { address: '192.0.2.50', interface: 'br-ex' },
  { address: '2001:db8::50', interface: 'eth1' },
]
const events = [{ subsystem: 'nftables', source: 'nftables', who: 'process 7 (a "b") changed table inet egretta' }] as const
const REPAIRED = recordPass(
  READY,
  report({ seen: seen({ nftables: holds({ differed: 'k' }) }, held), changes: [{ subsystem: 'nftables', key: 'k' }] }),
  end(60, { bundle: { digest: 'd1', source: '/bundles', revision: 'c0ffee' }, events }),
)

it('calls a node healthy only when it is ready', async () => {
  expect(await ask(await start(REPAIRED), '/healthz')).toEqual({ status: 200, body: '{\n  "ready": true\n}\n' })
  const { status, body } = await ask(await start(EMPTY), '/healthz')
  expect([status, JSON.parse(body)]).toEqual([503, { ready: false, reasons: ['no pass has ended yet'] }])
})

it('tells the first reasons, and how many more there are', async () => {
  const differing = Object.fromEntries(Object.keys(seen().subsystems).map((name) => [name, holds({ observed: 'bb' })]))
  const { body } = await ask(await start(recordPass(READY, report({ exitCode: 2, seen: seen(differing) }), end(1))), '/healthz')
  const { reasons, more } = JSON.parse(body) as { reasons: readonly string[]; more: number }
  expect([reasons.length, reasons[0], more]).toEqual([5, 'nftables does not hold what the bundle says', 1])
})

it('answers the status whole', async () => {
  const { status, body } = await ask(await start(REPAIRED), '/status')
  expect([status, JSON.parse(body)]).toEqual([200, REPAIRED])
})

it('measures all of it in the words of Prometheus', async () => {
  const { status, body } = await ask(await start(recordSource(REPAIRED, 'no route', at(70))), '/metrics')
  expect(status).toBe(200)
  const lines = body.split('\n')
  for (const line of [
    'egretta_agent_info{node="node-a",version="1.2.3",phase="steady"} 1',
    'egretta_agent_bundle_info{digest="d1",source="/bundles",revision="c0ffee"} 1',
    'egretta_agent_ready 1',
    'egretta_agent_source_failed 1',
    'egretta_agent_subsystem_info{subsystem="nftables",ownership="manage",desired="aa",observed="aa",applied="aa"} 1',
    'egretta_agent_subsystem_converged{subsystem="openflow"} 1',
    'egretta_agent_pending_entries{subsystem="openflow"} 0',
    'egretta_agent_last_change_timestamp_seconds{subsystem="nftables"} 1767225660',
    'egretta_agent_drift_total{subsystem="nftables"} 1',
    'egretta_agent_drift_total{subsystem="openflow"} 0',
    'egretta_agent_last_drift_timestamp_seconds{subsystem="nftables",who="process 7 (a \\"b\\") changed table inet egretta"} 1767225660',
    'egretta_agent_held_addresses 2',
    'egretta_agent_address_held_since_timestamp_seconds{address="2001:db8::50",interface="eth1"} 1767225660',
    'egretta_agent_passes_total 2',
    'egretta_agent_passes_failed_total 0',
    'egretta_agent_last_pass_duration_seconds 0.25',
  ]) {
    expect(lines).toContain(line)
  }
  const metrics = lines.filter((line) => /^[a-z]/.test(line)).map((line) => line.replace(/[ {].*/, ''))
  expect(metrics.filter((name) => !lines.some((line) => line.startsWith(`# HELP ${name} `)))).toEqual([])
})

it('measures nothing that is not known yet', async () => {
  const { body } = await ask(await start(EMPTY), '/metrics')
  expect(body).toContain('egretta_agent_ready 0\n')
  expect(body).not.toMatch(/last_pass_|bundle_info|last_change_/)
})

it('is asked by the command status, whose exit code says whether the node is ready', async () => {
  const ready = printListen(await start(REPAIRED))
  const text = await askStatus({ listen: ready, output: 'text' })
  expect([text.exitCode, text.text.split('\n')[0]]).toEqual([0, 'node-a: ready (steady, egretta-agent 1.2.3)'])
  const json = await askStatus({ listen: ready, output: 'json' })
  expect([json.exitCode, JSON.parse(json.text)]).toEqual([0, REPAIRED])
  expect((await askStatus({ listen: printListen(await start(EMPTY)), output: 'text' })).exitCode).toBe(4)
})

it('fails when no agent answers, or something else does', async () => {
  const gone = await start(EMPTY)
  gone.close()
  await expect(askStatus({ listen: printListen(gone), output: 'text' })).rejects.toThrow('no agent answers')
  const other = await serve({ host: '127.0.0.1', port: 0 }, { '/status': () => ({ status: 200, type: 'text/html', body: '<html>' }) })
  open.push(other)
  await expect(askStatus({ listen: printListen(other), output: 'text' })).rejects.toThrow('is no egretta-agent')
  await expect(askStatus({ listen: 'nowhere', output: 'text' })).rejects.toThrow('"nowhere" is no address to ask')
})
