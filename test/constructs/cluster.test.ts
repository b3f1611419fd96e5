import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiObject, App, Chart, Yaml } from 'cdk8s'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { EgressApp } from '../../src/constructs/app.js'
import type { EgressClusterProps } from '../../src/constructs/cluster.js'
import { EgressCluster } from '../../src/constructs/cluster.js'
import { EgressIP } from '../../src/constructs/egressip.js'
import type { FileTree } from '../../src/constructs/synth.js'
import { clusterObject, egressIPObject, intent, NODES, namespaceObject, topology } from './sources.js'

const PROD = { matchLabels: { env: 'prod' } }
const CLUSTER = topology(...NODES, namespaceObject('shop', { env: 'prod' }))

function clusterOf(props: Partial<EgressClusterProps>): { app: EgressApp; cluster: EgressCluster } {
  const app = new EgressApp({ outdir: 'unused' })
  return { app, cluster: new EgressCluster(app, 'demo', { topology: CLUSTER, ...props }) }
}
const manifest = (files: FileTree, name: string) => parse(files.get(`manifests/EgressIP.${name}.yaml`) ?? '') as Record<string, never>

describe('EgressCluster', () => {
  it('places objects of code and of files alike', () => {
    const { app, cluster } = clusterOf({ intent: intent(egressIPObject('eip-file', ['192.0.2.50'])) })
    new EgressIP(cluster, 'eip-code', { egressIPs: ['192.0.2.51', '2001:db8:1::51'], namespaceSelector: PROD })
    const files = app.files()
    expect(cluster.problems).toEqual([])
    expect(cluster.placement.assignments.map(({ object, egressIP }) => `${object} ${egressIP}`)).toEqual([
      'eip-code 192.0.2.51',
      'eip-code 2001:db8:1::51',
      'eip-file 192.0.2.50',
    ])
    expect([...files.keys()].filter((path) => path.startsWith('manifests/'))).toEqual([
      'manifests/EgressIP.eip-code.yaml',
      'manifests/EgressIP.eip-file.yaml',
    ])
    expect([...files.keys()].filter((path) => path.endsWith('/bundle.json'))).toEqual(
      ['node-a', 'node-b', 'node-c'].map((node) => `nodes/${node}/bundle.json`),
    )
    const index = JSON.parse(files.get('index.json') ?? '')
    expect(index.assignments).toEqual(cluster.placement.assignments.map(({ egressIP, object, node }) => ({ egressIP, object, node })))
    expect(index.files.map(({ path }: { path: string }) => path)).toEqual([...files.keys()].filter((path) => path !== 'index.json'))
    for (const node of ['node-a', 'node-b', 'node-c']) {
      expect(index.nodes[node]).toBe(JSON.parse(files.get(`nodes/${node}/bundle.json`) ?? '').digest)
    }
  })

  it('answers before synthesis, and anew when an object was added', () => {
    const { cluster } = clusterOf({})
    expect(cluster.placement.assignments).toEqual([])
    new EgressIP(cluster, 'eip', { egressIPs: ['192.0.2.50'], namespaceSelector: PROD })
    expect(cluster.placement.assignments).toMatchObject([{ egressIP: '192.0.2.50', change: 'add' }])
    expect(Object.keys(cluster.lock.objects)).toEqual(['eip'])
  })

  it('takes no more objects once it is synthesised, and synthesises the same again', () => {
    const { app, cluster } = clusterOf({ intent: intent(egressIPObject('eip', ['192.0.2.50'])) })
    const first = app.files()
    expect(app.files()).toEqual(first)
    expect(() => new EgressIP(cluster, 'late', { egressIPs: ['192.0.2.51'], namespaceSelector: PROD })).toThrow(
      /Cannot add children to "demo"/,
    )
  })

  it('names the construct in problems of an object in code', () => {
    const { cluster } = clusterOf({})
    new EgressIP(cluster, 'eip', { egressIPs: ['192.0.2.11'], namespaceSelector: PROD })
    expect(cluster.problems).toMatchObject([{ code: 'AddressConflict', object: 'eip', source: { file: 'demo/eip', line: 1 } }])
  })

  it('never throws for intent files: what is valid is rendered, the rest is a problem', () => {
    const broken = egressIPObject('broken', ['192.0.2.60'], { spec: { egressIPs: 'no list' } })
    const { app, cluster } = clusterOf({
      intent: intent(
        egressIPObject('eip', ['192.0.2.50', 'oops']),
        broken,
        egressIPObject('twice', ['192.0.2.61']),
        egressIPObject('twice', ['192.0.2.62']),
      ),
    })
    const files = app.files()
    expect(new Set(cluster.problems.map(({ code }) => code))).toEqual(new Set(['InvalidAddress', 'InvalidObject', 'DuplicateObject']))
    expect([...files.keys()].filter((path) => path.startsWith('manifests/'))).toEqual(['manifests/EgressIP.eip.yaml'])
    expect(manifest(files, 'eip').status).toEqual({ items: [{ egressIP: '192.0.2.50', node: expect.any(String) }] })
  })

  it('tells the place of a problem that comes up late', () => {
    const live = egressIPObject('eip', ['192.0.2.11'], { status: { items: [{ egressIP: '192.0.2.11', node: 'node-a' }] } })
    const { cluster } = clusterOf({ intent: intent(egressIPObject('eip', ['192.0.2.11'])), topology: [...CLUSTER, ...topology(live)] })
    const late = cluster.problems.filter(({ message }) => message.includes("node-a's own address"))
    expect(late).toMatchObject([{ code: 'AddressConflict', object: 'eip', source: { file: 'intent/0.json', line: 1, column: 1 } }])
  })
  it('applies the policy of the cluster to the problems', () => {
    const twice = egressIPObject('eip', ['192.0.2.50', 'oops'])
    const { cluster } = clusterOf({ intent: intent(twice, clusterObject({ policy: { InvalidAddress: 'warning' } })) })
    expect(cluster.problems.map(({ code, severity }) => [code, severity])).toEqual([['InvalidAddress', 'warning']])
  })

  it('refuses to synthesise inputs that do not parse', () => {
    const { app, cluster } = clusterOf({ intent: [{ file: 'intent/a.yaml', text: 'a: [', role: 'intent' }] })
    expect(cluster.problems[0]).toMatchObject({ code: 'UnreadableInput', source: { file: 'intent/a.yaml' } })
    expect(cluster.placement.assignments).toEqual([])
    expect(() => app.files()).toThrow(/nothing was written/)
  })

  it('sees an egress IP kept by the lock', () => {
    const lock = {
      apiVersion: 'egretta.dev/v1alpha1',
      kind: 'Lock',
      objects: { eip: { addresses: { '192.0.2.50': { node: 'node-c', seen: null } } } },
    } as const
    const { cluster } = clusterOf({ intent: intent(egressIPObject('eip', ['192.0.2.50'])), lock })
    expect(cluster.placement.assignments).toMatchObject([{ node: 'node-c', change: 'keep' }])
    expect(cluster.lock).toEqual(lock)
  })
})

describe('manifests', () => {
  const author = egressIPObject('eip', ['192.0.2.50'], {
    metadata: {
      name: 'eip',
      labels: { team: 'shop' },
      annotations: { note: 'mine', 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'k8s.ovn.org/egressip-mark': '50007' },
      uid: 'u',
      resourceVersion: '7',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ manager: 'kubectl' }],
    },
    spec: { egressIPs: ['2001:DB8:1:0::50'], namespaceSelector: PROD },
  })
  it('keep what the author wrote and drop what the server added', () => {
    const { app } = clusterOf({ intent: intent(author) })
    const written = manifest(app.files(), 'eip')
    expect(written).toEqual({
      apiVersion: 'k8s.ovn.org/v1',
      kind: 'EgressIP',
      metadata: { name: 'eip', labels: { team: 'shop' }, annotations: { note: 'mine' } },
      spec: { egressIPs: ['2001:DB8:1:0::50'], namespaceSelector: PROD },
      status: { items: [{ egressIP: '2001:db8:1::50', node: expect.any(String) }] },
    })
  })
  it('carry no status where the cluster decides', () => {
    const { app } = clusterOf({ intent: intent(author, clusterObject({ placement: 'advisory' })) })
    expect(Object.keys(manifest(app.files(), 'eip'))).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  })
  it('carry the mark where egretta decides and the object has one', () => {
    const live = egressIPObject('eip', ['192.0.2.50'], {
      metadata: { name: 'eip', annotations: { 'k8s.ovn.org/egressip-mark': '50123' } },
    })
    const { app } = clusterOf({ intent: intent(egressIPObject('eip', ['192.0.2.50'])), topology: [...CLUSTER, ...topology(live)] })
    expect(manifest(app.files(), 'eip').metadata).toEqual({ name: 'eip', annotations: { 'k8s.ovn.org/egressip-mark': '50123' } })
  })
  it('are named with the namespace, and never leave their folder', () => {
    const { app, cluster } = clusterOf({})
    new ApiObject(cluster, 'a', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'same', namespace: 'x' } })
    new ApiObject(cluster, 'b', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'same', namespace: 'y' } })
    new ApiObject(cluster, 'c', { apiVersion: 'v1', kind: 'Role', metadata: { name: '../../x:y' } })
    expect([...app.files().keys()].filter((path) => path.startsWith('manifests'))).toEqual([
      'manifests/ConfigMap.x.same.yaml',
      'manifests/ConfigMap.y.same.yaml',
      'manifests/Role.%2E.%2F..%2Fx%3Ay.yaml',
    ])
  })
  it('have a name that a file can have, and one of their own, however long that of the object is', () => {
    const { app, cluster } = clusterOf({})
    const long = 'a'.repeat(252)
    for (const end of ['b', 'c']) new EgressIP(cluster, end, { name: long + end, egressIPs: ['192.0.2.50'], namespaceSelector: PROD })
    const paths = [...app.files().keys()].filter((path) => path.startsWith('manifests'))
    expect(paths).toHaveLength(2)
    for (const path of paths) expect(path).toMatch(/^manifests\/EgressIP\.a{176}\.[0-9a-f]{64}\.yaml$/)
  })
  it('are plain objects below any other chart', () => {
    const app = new App({ outdir: 'unused' })
    const eip = new EgressIP(new Chart(app, 'chart'), 'eip', { egressIPs: ['192.0.2.50'], namespaceSelector: PROD })
    expect(parse(Yaml.stringify(eip.toJson()))).toEqual(egressIPObject('eip', ['192.0.2.50']))
  })
  it('tell their own kind from other ApiObjects', () => {
    const { cluster } = clusterOf({})
    const other = new ApiObject(cluster, 'a', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    expect(EgressIP.isEgressIP(other)).toBe(false)
  })
})

describe('determinism', () => {
  const objects = Array.from({ length: 6 }, (_, i) => egressIPObject(`eip-${i}`, [`192.0.2.${50 + i}`, `2001:db8:1::${50 + i}`]))
  const parts = [...NODES, namespaceObject('shop', { env: 'prod' })]
  const filesOf = (wanted: readonly object[], there: readonly object[], lock: EgressClusterProps['lock'] = null) => {
    const { app, cluster } = clusterOf({ intent: intent(...wanted), topology: there.flatMap((part) => topology(part)), lock })
    return { files: app.files(), cluster }
  }
  it('the order of files and documents changes no byte', () => {
    const { files } = filesOf(objects, parts)
    fc.assert(
      fc.property(
        fc.shuffledSubarray(objects, { minLength: 6 }),
        fc.shuffledSubarray(parts, { minLength: parts.length }),
        (wanted, there) => {
          expect(filesOf(wanted, there).files).toEqual(files)
        },
      ),
      { numRuns: 15 },
    )
  })
  it('moving one address rewrites its object, the bundles of two nodes and the index, nothing else', () => {
    const { files, cluster } = filesOf(objects, parts)
    const [moved] = cluster.placement.assignments.filter(({ object }) => object === 'eip-3')
    const from = moved?.node ?? ''
    const other = cluster.placement.assignments.find(({ object, node }) => object === 'eip-3' && node !== from)?.node
    const to = ['node-a', 'node-b', 'node-c'].find((node) => node !== from && node !== other) ?? ''
    const locked = cluster.lock.objects['eip-3']
    const lock = {
      ...cluster.lock,
      objects: {
        ...cluster.lock.objects,
        'eip-3': { ...locked, addresses: { ...locked?.addresses, [moved?.egressIP ?? '']: { node: to, seen: null } } },
      },
    }
    const { files: after } = filesOf(objects, parts, lock)
    const changed = [...new Set([...files.keys(), ...after.keys()])].filter((path) => files.get(path) !== after.get(path))
    const allowed = (path: string) =>
      path === 'index.json' ||
      path === 'manifests/EgressIP.eip-3.yaml' ||
      path.startsWith(`nodes/${from}/`) ||
      path.startsWith(`nodes/${to}/`)
    expect(changed.filter((path) => !allowed(path))).toEqual([])
    for (const path of ['index.json', 'manifests/EgressIP.eip-3.yaml', `nodes/${from}/addresses.json`, `nodes/${to}/bundle.json`]) {
      expect(changed).toContain(path)
    }
  })
})

describe('EgressApp', () => {
  it('writes what it renders', () => {
    const outdir = join(mkdtempSync(join(tmpdir(), 'egretta-app-')), 'out')
    const app = new EgressApp({ outdir })
    new EgressCluster(app, 'demo', { topology: CLUSTER, intent: intent(egressIPObject('eip', ['192.0.2.50'])) })
    app.synth()
    const written = readdirSync(outdir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const texts = new Map(
      written.map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), 'utf8')]),
    )
    expect(texts).toEqual(new Map([...app.files()].map(([path, text]) => [join(outdir, path), text])))
    rmSync(join(outdir, '..'), { recursive: true })
  })
})
