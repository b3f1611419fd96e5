import { describe, expect, it } from 'vitest'
import type { Inputs } from '../../src/model/inputs.js'
import { NO_OPTIONS, place } from '../../src/place/place.js'
import { cluster, type Document, dumpOf, egressIP, namespace, node, pod, projectOf } from './cluster.js'

const a = node('alder-a', { labels: { pool: 'web' } })
const web = namespace('web', { team: 'web' })
const custom = { nodes: { matchLabels: { pool: 'web' } } }
const told = (inputs: Inputs) =>
  place(inputs, NO_OPTIONS).problems.map(({ severity, code, object, message }) => `${severity} ${code} ${object}: ${message}`)

describe('SelectorMatchesNoPod', () => {
  const said = 'info SelectorMatchesNoPod web: web selects no pod that runs at present.'

  it('is a selector whose namespaces have no such pod', () => {
    const other = [web, namespace('shop', { team: 'shop' }), pod('shop', 'one')]
    expect(told(dumpOf([a, ...other, egressIP('web', ['192.0.2.40'], custom)]))).toEqual([said])
    const done = { ...pod('web', 'job'), status: { phase: 'Succeeded', podIP: '10.128.0.9' } }
    expect(told(dumpOf([a, web, done, egressIP('web', ['192.0.2.40'], custom)]))).toEqual([said])
  })

  it('is nothing where a pod is selected, or where the topology has no pod at all', () => {
    expect(told(dumpOf([a, web, pod('web', 'one'), egressIP('web', ['192.0.2.40'], custom)]))).toEqual([])
    expect(told(dumpOf([a, web, egressIP('web', ['192.0.2.40'], custom)]))).toEqual([])
  })
})

describe('SelectorNotEnforced', () => {
  const crd = (known: boolean): Document => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'egressips.k8s.ovn.org' },
    spec: {
      versions: [
        {
          name: 'v1',
          served: true,
          schema: { openAPIV3Schema: { properties: { spec: { properties: known ? { egressNodeSelector: {} } : {} } } } },
        },
      ],
    },
  })
  const advisory = cluster({ placement: 'advisory' })
  const mine = egressIP('web', ['192.0.2.40'], custom)
  const dropped =
    'warning SelectorNotEnforced web: egressNodeSelector of web may have no effect: the EgressIP CRD of the cluster does not have the field and drops it.'

  it('is a CRD that drops the field, whoever places', () => {
    expect(told(dumpOf([a, mine, crd(false)]))).toEqual([dropped])
    expect(told(dumpOf([a, mine, crd(false), advisory]))).toEqual([dropped])
    expect(told(dumpOf([a, mine, crd(true)]))).toEqual([])
    expect(told(dumpOf([a, mine]))).toEqual([])
  })

  it('is placement by ovnkube that nothing shows to know the field', () => {
    expect(told(dumpOf([a, mine, advisory]))).toEqual([
      expect.stringContaining('no EgressIP CRD among the inputs shows that it knows the field'),
    ])
    expect(told(dumpOf([a, mine, advisory, crd(true)]))).toEqual([])
  })

  it('is an address that ovnkube has put on a node that does not match', () => {
    const status = { '192.0.2.40': 'alder-b' }
    const inputs = (live: Document) => projectOf([mine], [a, node('alder-b'), live, crd(true), advisory])
    const strayed = 'ovnkube has put 192.0.2.40 on alder-b, which does not match it'
    expect(told(inputs(egressIP('web', ['192.0.2.40'], { ...custom, status })))).toEqual([expect.stringContaining(strayed)])
    // Not yet applied: the cluster has another selector.
    expect(told(inputs(egressIP('web', ['192.0.2.40'], { status })))).toEqual([])
  })

  it('is never the selector that the CRD fills in', () => {
    const plain = node('alder-a')
    const spelled = { nodes: { matchLabels: {}, matchExpressions: [{ key: 'k8s.ovn.org/egress-assignable', operator: 'Exists' }] } }
    for (const spec of [{}, spelled]) {
      expect(told(dumpOf([plain, egressIP('web', ['192.0.2.40'], spec), crd(false), advisory]))).toEqual([])
    }
  })
})
