import { SUBSYSTEMS } from './entries.js'
import type { AgentStatus, SubsystemStatus } from './status.js'

/** The content type of what `printMetrics` makes. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Labels and value of one time series. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  readonly samples: readonly Sample[]
}

/** The status in the text format of Prometheus. prom-client is loaded by the first call: no other part of the agent waits for it or needs it. */
export async function printMetrics(status: AgentStatus): Promise<string> {
  const { Counter, Gauge, Registry } = await import('prom-client')
  const registry = new Registry()
  for (const { name, help, type, samples } of metricsOf(status)) {
    // Without a label a metric that nothing is known of would say 0.
    if (samples.length === 0) continue
    const labelNames = [...new Set(samples.flatMap(([labels]) => Object.keys(labels)))]
    const about = { name: `egretta_agent_${name}`, help, labelNames, registers: [registry] }
    const metric = type === 'gauge' ? new Gauge(about) : new Counter(about)
    for (const [labels, value] of samples) metric.inc(labels, value)
  }
  return registry.metrics()
}

function metricsOf(status: AgentStatus): readonly Metric[] {
  const { node, version, phase, bundle, ready, held, passes, sourceError } = status
  const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({ name, help, type: 'gauge', samples })
  const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({ name, help, type: 'counter', samples })
  const one = (value: number | null): readonly Sample[] => (value === null ? [] : [[{}, value]])
  const bySubsystem = (of: (subsystem: SubsystemStatus) => number | null): readonly Sample[] =>
    SUBSYSTEMS.flatMap((name): readonly Sample[] => {
      const value = of(status.subsystems[name])
      return value === null ? [] : [[{ subsystem: name }, value]]
    })
  return [
    gauge('info', 'The agent: the node, its version, its phase. Always 1.', [[{ node, version, phase }, 1]]),
    gauge(
      'bundle_info',
      'The bundle of the last pass: its digest, its source, the commit of a git source. Always 1.',
      bundle ? [[{ digest: bundle.digest, source: bundle.source, revision: bundle.revision ?? '' }, 1]] : [],
    ),
    gauge('ready', '1 when the node does all that the bundle says, else 0.', [[{}, ready ? 1 : 0]]),
    gauge('source_failed', '1 while the source cannot be read or holds a bundle that is not taken, else 0.', [[{}, sourceError ? 1 : 0]]),
    gauge(
      'subsystem_info',
      'Digests of what a subsystem is asked for, of what the host held after the last pass, and of what this agent last brought it to. Always 1.',
      SUBSYSTEMS.map((name): Sample => {
        const { ownership, desired, observed, applied } = status.subsystems[name]
        return [{ subsystem: name, ownership, desired: desired ?? '', observed: observed ?? '', applied: applied ?? '' }, 1]
      }),
    ),
    gauge(
      'subsystem_converged',
      '1 when the host held what it is asked for, else 0; not there for a subsystem that is off.',
      bySubsystem(({ ownership, desired, observed }) => (ownership === 'off' ? null : desired !== null && observed === desired ? 1 : 0)),
    ),
    gauge(
      'pending_entries',
      'Entries that wait for a bridge, a port or an interface.',
      bySubsystem(({ pending }) => pending),
    ),
    gauge(
      'last_change_timestamp_seconds',
      'When this agent last changed a subsystem.',
      bySubsystem(({ lastChange }) => seconds(lastChange)),
    ),
    gauge(
      'last_error_timestamp_seconds',
      'When a subsystem last refused something.',
      bySubsystem(({ lastErrorTime }) => seconds(lastErrorTime)),
    ),
    counter(
      'drift_total',
      'How often a subsystem had lost what it held, through nothing that this agent did.',
      bySubsystem(({ drift }) => drift),
    ),
    gauge(
      'last_drift_timestamp_seconds',
      'When a subsystem was last found to have lost something, and who did it.',
      SUBSYSTEMS.flatMap((name): readonly Sample[] => {
        const { lastDrift } = status.subsystems[name]
        return lastDrift ? [[{ subsystem: name, who: lastDrift.who }, seconds(lastDrift.time) ?? 0]] : []
      }),
    ),
    gauge('held_addresses', 'How many egress IPs the node holds.', [[{}, held.length]]),
    gauge(
      'address_held_since_timestamp_seconds',
      'Since when the node holds an egress IP.',
      held.map(({ address, interface: dev, since }): Sample => [{ address, interface: dev }, seconds(since) ?? 0]),
    ),
    counter('passes_total', 'Passes that have ended.', one(passes.count)),
    counter('passes_failed_total', 'Passes that failed or were refused.', one(passes.failed)),
    gauge('last_pass_duration_seconds', 'How long the last pass took.', one(passes.lastSeconds)),
    gauge('last_pass_timestamp_seconds', 'When the last pass ended.', one(seconds(passes.lastEnd))),
  ]
}

/** Seconds since 1970 of an ISO time. */
const seconds = (time: string | null): number | null => (time === null ? null : Date.parse(time) / 1000)
