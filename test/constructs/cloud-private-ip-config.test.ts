import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { EgressApp } from '../../src/constructs/app.js'
import { CloudPrivateIPConfig } from '../../src/constructs/cloud-private-ip-config.js'
import { EgressCluster } from '../../src/constructs/cluster.js'
import { clusterObject, egressIPObject, intent, namespaceObject, nodeObject, topology } from './sources.js'

const config = (capacity: object) =>
  JSON.stringify([{ interface: 'nic0', ifaddr: { ipv4: '192.0.2.0/24', ipv6: '2001:db8:1::/64' }, capacity }])
const NODES = ['node-a', 'node-b'].map((name, at) =>
  nodeObject({ name, host: 11 + at, annotations: { 'cloud.network.openshift.io/egress-ipconfig': config({ ip: 10 }) } }),
)
const platform = (type: string) => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  status: { platformStatus: { type } },
})

/** The CloudPrivateIPConfigs that an intent leads to, by path. */
function rendered(there: readonly object[], wanted: readonly object[]): Readonly<Record<string, unknown>> {
  const app = new EgressApp({ outdir: 'unused' })
  new EgressCluster(app, 'demo', { topology: topology(...there, namespaceObject('shop', { env: 'prod' })), intent: intent(...wanted) })
  const found = [...app.files()].filter(([path]) => path.startsWith('manifests/CloudPrivateIPConfig.'))
  return Object.fromEntries(found.map(([path, text]) => [path, parse(text)]))
}

describe('CloudPrivateIPConfig', () => {
  const wanted = [egressIPObject('eip', ['192.0.2.50', '2001:db8:1::50'])]

  it.each(['AWS', 'Azure', 'GCP', 'OpenStack'])('is written for every address on %s', (type) => {
    const objects = rendered([...NODES, platform(type)], wanted)
    const object = (name: string) => ({
      apiVersion: 'cloud.network.openshift.io/v1',
      kind: 'CloudPrivateIPConfig',
      metadata: { name, annotations: { 'k8s.ovn.org/egressip-owner-ref': 'eip' } },
      spec: { node: expect.stringMatching(/^node-[ab]$/) },
    })
    expect(objects).toEqual({
      'manifests/CloudPrivateIPConfig.192.0.2.50.yaml': object('192.0.2.50'),
      'manifests/CloudPrivateIPConfig.2001.0db8.0001.0000.0000.0000.0000.0050.yaml': object('2001.0db8.0001.0000.0000.0000.0000.0050'),
    })
  })

  it('follows the address to the node that hosts it', () => {
    const live = egressIPObject('eip', ['192.0.2.50'], { status: { items: [{ egressIP: '192.0.2.50', node: 'node-b' }] } })
    const [held] = Object.values(rendered([...NODES, platform('AWS'), live], [egressIPObject('eip', ['192.0.2.50'])]))
    expect(held).toMatchObject({ spec: { node: 'node-b' } })
  })

  it('is not written off clouds, where ovnkube places, or for objects that are not ours', () => {
    expect(rendered([...NODES, platform('BareMetal')], wanted)).toEqual({})
    expect(rendered([...NODES, platform('AWS')], [...wanted, clusterObject({ placement: 'advisory' })])).toEqual({})
    const theirs = egressIPObject('theirs', ['192.0.2.60'], { status: { items: [{ egressIP: '192.0.2.60', node: 'node-b' }] } })
    expect(rendered([...NODES, platform('AWS'), theirs], [])).toEqual({})
  })

  it('refuses, in code, a text that is no address', () => {
    const app = new EgressApp({ outdir: 'unused' })
    const cluster = new EgressCluster(app, 'demo', { topology: topology(...NODES) })
    new CloudPrivateIPConfig(cluster, 'own', { egressIP: '192.0.2', nodeName: 'node-a', owner: 'eip' })
    expect(() => app.files()).toThrow('[demo/own] egressIP: "192.0.2" is not an address')
  })
})
