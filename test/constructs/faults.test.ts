import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { V1LabelSelector } from '@kubernetes/client-node'
import { ApiObject, App, Chart } from 'cdk8s'
import { describe, expect, it } from 'vitest'
import { EgressApp } from '../../src/constructs/app.js'
import type { EgressClusterProps } from '../../src/constructs/cluster.js'
import { EgressCluster } from '../../src/constructs/cluster.js'
import { EgressIP } from '../../src/constructs/egressip.js'
import { egressIPObject, intent, NODES, namespaceObject, topology } from './sources.js'

const PROD = { matchLabels: { env: 'prod' } }
const CLUSTER = topology(...NODES, namespaceObject('shop', { env: 'prod' }))

function clusterOf(props: Partial<EgressClusterProps>): { app: EgressApp; cluster: EgressCluster } {
  const app = new EgressApp({ outdir: 'unused' })
  return { app, cluster: new EgressCluster(app, 'demo', { topology: CLUSTER, ...props }) }
}

describe('errors of the app', () => {
  it('are thrown once, all of them, with construct paths, before anything is written', () => {
    const outdir = join(mkdtempSync(join(tmpdir(), 'egretta-app-')), 'out')
    const app = new EgressApp({ outdir })
    const cluster = new EgressCluster(app, 'demo', { topology: CLUSTER })
    new EgressIP(cluster, 'one', { egressIPs: ['192.0.2.300', '192.0.2.0/24'], namespaceSelector: PROD })
    new EgressIP(cluster, 'two', { name: 'Bad_Name', egressIPs: [], namespaceSelector: PROD })
    const group = new Chart(cluster, 'group')
    new EgressIP(group, 'three', { name: 'same', egressIPs: ['192.0.2.50'], namespaceSelector: PROD })
    new EgressIP(cluster, 'four', { name: 'same', egressIPs: ['192.0.2.51'], namespaceSelector: PROD })
    const wrong = { matchExpressions: [{ key: 'env', operator: 'Is', values: ['prod'] }] }
    new EgressIP(cluster, 'five', { egressIPs: ['192.0.2.52'], namespaceSelector: wrong })
    new EgressIP(cluster, 'six..seven', { egressIPs: [5 as never], namespaceSelector: { matchLabels: 'env' as never } })
    new EgressIP(cluster, 'eight', { namespaceSelector: PROD } as never)
    new EgressCluster(app, 'other', { topology: CLUSTER })
    let message = ''
    try {
      app.synth()
    } catch (fault) {
      message = String(fault)
    }
    for (const part of [
      '[demo/one] egressIPs: "192.0.2.300" is not an address: the part "300" is over 255',
      '[demo/one] egressIPs: "192.0.2.0/24" is not an address',
      '[demo/two] name "Bad_Name" is not a DNS subdomain',
      '[demo/two] egressIPs is empty',
      '[demo] EgressIP "same" is declared at demo/group/three and at demo/four',
      '[demo/five] namespaceSelector.matchExpressions[0].operator:',
      '[demo/six..seven] name "six..seven" is not a DNS subdomain',
      '[demo/six..seven] egressIPs: the number 5 is not an address',
      '[demo/six..seven] namespaceSelector is not a label selector',
      '[demo/eight] egressIPs is empty or no list',
      '[other] the app has an EgressCluster already',
    ]) {
      expect(message).toContain(part)
    }
    expect(existsSync(outdir)).toBe(false)
  })
  it('hold an object that a file of the intent contradicts', () => {
    const { app, cluster } = clusterOf({ intent: intent(egressIPObject('eip', ['192.0.2.60'])) })
    new EgressIP(cluster, 'eip', { egressIPs: ['192.0.2.50'], namespaceSelector: PROD })
    expect(() => app.files()).toThrow('[demo] demo/eip: EgressIP eip stands 2 times with different content, also at intent/0.json:1:1.')
  })
  it('hold a cluster under a plain App', () => {
    const outdir = mkdtempSync(join(tmpdir(), 'egretta-app-'))
    const app = new App({ outdir })
    new EgressCluster(app, 'demo', { topology: CLUSTER })
    expect(() => app.synth()).toThrow(/\[demo\] an EgressCluster needs an EgressApp/)
    rmSync(outdir, { recursive: true })
  })
  it('hold two objects that would be one file, and state in the annotations', () => {
    const { app, cluster } = clusterOf({})
    for (const group of ['operator.openshift.io/v1', 'config.openshift.io/v1']) {
      new ApiObject(cluster, group, { apiVersion: group, kind: 'Network', metadata: { name: 'cluster' } })
    }
    expect(() => app.files()).toThrow(/manifests\/Network\.cluster\.yaml, and so is \[demo\/operator\.openshift\.io--v1\]/)
    const marked = clusterOf({})
    const metadata = { annotations: { 'k8s.ovn.org/egressip-mark': '50000' } }
    new EgressIP(marked.cluster, 'eip', { metadata, egressIPs: ['192.0.2.50'], namespaceSelector: PROD })
    expect(() => marked.app.files()).toThrow(/egressip-mark is state/)
  })
  it('hold props of a wrong type, whatever else is asked of the cluster', () => {
    const { app, cluster } = clusterOf({
      intent: 'intent/' as never,
      lock: {} as never,
      options: { drain: 'node-a', down: [5], rebalance: '3' } as never,
      allowUnassigned: 'no' as never,
    })
    new EgressIP(cluster, 'eip', { egressIPs: ['192.0.2.300'], namespaceSelector: PROD })
    const parts = [
      'intent must be a list of source files, each with file, text and role ("intent", "topology" or "both"), as readSources returns them; it is the text "intent/"',
      'lock must be a lock as parseLock returns it, or null; it is a mapping',
      'options.drain must be a list of names of nodes; it is the text "node-a"',
      'options.down must be a list of names of nodes; it is a list with something else in it',
      'options.rebalance must be a number of addresses from 0 (Infinity: any number), or null; it is the text "3"',
      'allowUnassigned must be true or false; it is the text "no"',
    ]
    expect(() => cluster.problems).toThrow(`[demo] ${parts.join('; ')}`)
    const faults = [
      ...parts.map((part) => `[demo] ${part}`),
      '[demo/eip] egressIPs: "192.0.2.300" is not an address: the part "300" is over 255',
    ]
    expect(() => app.files()).toThrow(`Validation failed with the following errors:\n  ${faults.join('\n  ')}`)
    const without = new EgressApp({ outdir: 'unused' })
    new EgressCluster(without, 'demo', undefined as never)
    expect(() => without.files()).toThrow('[demo] topology must be a list of source files')
  })
  it('are none where options are left out, or undefined', () => {
    for (const options of [{}, { rebalance: 1 }, { drain: undefined } as never]) expect(clusterOf({ options }).cluster.problems).toEqual([])
  })
})

describe('a selector in code', () => {
  it('may have the type that client-node gives it', () => {
    const selector: V1LabelSelector = { matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }] }
    const { app, cluster } = clusterOf({})
    new EgressIP(cluster, 'eip', { egressIPs: ['192.0.2.50'], namespaceSelector: selector })
    expect(app.files().get('manifests/EgressIP.eip.yaml')).toContain('operator: In')
  })
  it('that has a field which is none of a selector is refused: without it, it would select everything', () => {
    const { app, cluster } = clusterOf({})
    const misspelt = { matchLabel: { env: 'prod' } } as never
    new EgressIP(cluster, 'eip', { egressIPs: ['192.0.2.50'], namespaceSelector: misspelt })
    expect(() => app.files()).toThrow(
      '[demo/eip] namespaceSelector.matchLabel: "matchLabel" is not a known field (did you mean matchLabels?)',
    )
  })
})
