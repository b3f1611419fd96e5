import { describe, expect, it } from 'vitest'
import { readInputs } from '../../src/model/inputs.js'
import { selectionOf } from '../../src/model/selection.js'

interface PodShape {
  readonly name: string
  readonly ips: readonly string[]
  readonly created?: string
  readonly phase?: string
  readonly hostNetwork?: boolean
  /** Attachment to a primary user-defined network, and the address there. */
  readonly blue?: readonly [attachment: string, address: string]
}

const pod = ({ name, ips, created, phase = 'Running', hostNetwork = false, blue }: PodShape) => `---
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: shop
${created ? `  creationTimestamp: "2026-07-01T${created}:00Z"\n` : ''}${
  blue
    ? `  annotations:\n    k8s.ovn.org/pod-networks: '{"${blue[0]}":{"ip_addresses":["${blue[1]}/24"],"role":"primary"},"default":{"ip_addresses":["${ips[0]}/24"],"role":"infrastructure-locked"}}'\n`
    : ''
}spec: {nodeName: node-a, hostNetwork: ${hostNetwork}}
status: {phase: ${phase}, podIPs: [${ips.map((ip) => `{ip: "${ip}"}`).join(', ')}]}
`
const NAMESPACE = '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: shop}}\n'

/** Selected pods with their addresses. */
function selected(...pods: readonly PodShape[]): Readonly<Record<string, string>> {
  const { topology, problems } = readInputs([{ file: 'cluster.yaml', text: NAMESPACE + pods.map(pod).join(''), role: 'topology' }], null)
  expect(problems).toEqual([])
  const found = selectionOf(topology)({ namespaceSelector: { matchLabels: { team: 'shop' } }, podSelector: {} })
  return Object.fromEntries(found.map(({ name, addresses }) => [name, addresses.map(({ text }) => text).join(' ')]))
}

describe('the pods that an EgressIP selects', () => {
  it('run, have an address, and do not share the network of their host', () => {
    expect(
      selected(
        { name: 'web', ips: ['10.128.0.5', 'fd01::5'] },
        { name: 'starting', ips: ['10.128.0.6'], phase: 'Pending' },
        { name: 'unscheduled', ips: [], phase: 'Pending' },
        { name: 'done', ips: ['10.128.0.7'], phase: 'Succeeded' },
        { name: 'crashed', ips: ['10.128.0.8'], phase: 'Failed' },
        { name: 'agent', ips: ['192.0.2.11'], hostNetwork: true },
      ),
    ).toEqual({ web: '10.128.0.5 fd01::5', starting: '10.128.0.6' })
  })

  it('do not lose to a completed pod the address that is theirs now', () => {
    const done = { name: 'job', ips: ['10.128.0.5'], phase: 'Succeeded', created: '09:00' }
    expect(selected(done, { name: 'web', ips: ['10.128.0.5'], created: '08:00' })).toEqual({ web: '10.128.0.5' })
  })

  it('have an address that a newer pod got only until then', () => {
    const old = { name: 'old', ips: ['10.128.0.5', 'fd01::5'], created: '08:00' }
    expect(selected(old, { name: 'new', ips: ['10.128.0.5'], created: '09:00' })).toEqual({ old: 'fd01::5', new: '10.128.0.5' })
    expect(selected({ ...old, ips: ['10.128.0.5'] }, { name: 'new', ips: ['10.128.0.5'], created: '09:00' })).toEqual({ new: '10.128.0.5' })
  })

  it('share an address where nothing says who is newer, and on networks of their own', () => {
    const [a, b] = [
      { name: 'a', ips: ['10.128.0.5'] },
      { name: 'b', ips: ['10.128.0.5'] },
    ] as const
    expect(selected(a, b)).toEqual({ a: '10.128.0.5', b: '10.128.0.5' })
    expect(selected(a, { ...b, created: '09:00' })).toEqual({ a: '10.128.0.5', b: '10.128.0.5' })
    const on = (name: string, created: string, ip: string): PodShape => ({ name, ips: [ip], created, blue: [`shop/${name}`, '10.20.0.9'] })
    const [red, blue] = [on('red', '08:00', '10.128.0.6'), on('blue', '09:00', '10.128.0.7')]
    expect(selected(red, blue)).toEqual({ red: '10.20.0.9', blue: '10.20.0.9' })
  })

  it('on a primary user-defined network count with the address they have there', () => {
    const one = { name: 'one', ips: ['10.128.0.5'], created: '08:00', blue: ['shop/blue', '10.20.0.9'] as const }
    expect(selected(one, { ...one, name: 'two', created: '09:00' })).toEqual({ two: '10.20.0.9' })
  })
})
