import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { V1DaemonSet, V1Namespace } from '@kubernetes/client-node'
import { loadAll } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../../src/agent/daemon-command.js'
import { DEFAULT_LISTEN } from '../../src/host/endpoint.js'
import { ROOT } from '../house/tree.js'

const [namespace, set, ...others] = loadAll(readFileSync(join(ROOT, 'deploy/kubernetes/daemonset.yaml'), 'utf8')) as [
  V1Namespace,
  V1DaemonSet,
]
const pod = set.spec?.template.spec
const [agent] = pod?.containers ?? []

describe('the manifest', () => {
  it('is a namespace and a DaemonSet, and asks for nothing at the API server', () => {
    expect([namespace.kind, set.kind, others.length]).toEqual(['Namespace', 'DaemonSet', 0])
    expect(set.apiVersion).toBe('apps/v1')
    expect(set.metadata?.namespace).toBe(namespace.metadata?.name)
    expect(set.spec?.selector.matchLabels).toEqual(set.spec?.template.metadata?.labels)
    expect(pod?.automountServiceAccountToken).toBe(false)
    expect(pod?.serviceAccountName).toBeUndefined()
  })

  it('puts the agent into the network of every node', () => {
    expect(pod?.hostNetwork).toBe(true)
    expect(pod?.tolerations).toEqual([{ operator: 'Exists' }])
    expect(agent?.env?.find(({ name }) => name === 'EGRETTA_NODE')?.valueFrom?.fieldRef?.fieldPath).toBe('spec.nodeName')
  })

  it('lets a roll-out leave a healthy node as it is', () => {
    const args = agent?.args ?? []
    expect(args[args.indexOf('--on-term') + 1]).toBe('leave')
    expect(agent?.lifecycle).toBeUndefined()
  })

  it('keeps what the agent knows of the host in a folder of the host, which a reboot empties', () => {
    const state = pod?.volumes?.find(({ name }) => name === 'state')
    expect(state?.hostPath?.path).toBe('/run/egretta')
    expect(agent?.volumeMounts?.find(({ name }) => name === 'state')?.mountPath).toBe('/run/egretta')
    expect(agent?.volumeMounts?.every(({ name }) => pod?.volumes?.some((volume) => volume.name === name))).toBe(true)
  })

  it('starts the agent with options that it has', () => {
    expect(agent?.command).toEqual(['egretta-agent'])
    expect(agent?.args?.[0]).toBe('run')
    const known = runCommand(() => '').options.map(({ long }) => long)
    expect(known).toEqual(expect.arrayContaining(agent?.args?.filter((word) => word.startsWith('--')) ?? []))
  })

  it('gives it two rights of root and no more', () => {
    const { capabilities, privileged, allowPrivilegeEscalation, readOnlyRootFilesystem } = agent?.securityContext ?? {}
    expect(capabilities).toEqual({ drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] })
    expect([privileged, allowPrivilegeEscalation, readOnlyRootFilesystem]).toEqual([false, false, true])
  })

  it('asks the agent where it listens, and restarts none that is not ready', () => {
    const { readinessProbe, livenessProbe } = agent ?? {}
    const where = (probe: typeof readinessProbe) => `${probe?.httpGet?.host}:${probe?.httpGet?.port}`
    expect([where(readinessProbe), where(livenessProbe)]).toEqual([DEFAULT_LISTEN, DEFAULT_LISTEN])
    expect([readinessProbe?.httpGet?.path, livenessProbe?.httpGet?.path]).toEqual(['/healthz', '/status'])
  })
})
