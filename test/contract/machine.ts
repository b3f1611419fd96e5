import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExec } from '../../src/host/exec.js'
import { cable, createNamespace, entering, type Namespace } from '../lab/netns.js'
import { addBridge, type OpenVSwitch, startOvs } from '../lab/ovs.js'
import { BRIDGE, DEVICE } from './samples.js'

/** A host of its own: a namespace with the device `ens3` and, where asked for, Open vSwitch with `br-ex`. */
export interface Machine {
  readonly namespace: Namespace
  readonly ovs: OpenVSwitch | null
  /** Words before every command that is to run there. */
  readonly prefix: readonly string[]
  readonly folder: string
  close(): void
}

export function machine(label: string, needs: { readonly ovs: boolean }): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'egretta-'))
  const namespace = createNamespace(label)
  cable({ namespace, device: DEVICE }, { namespace, device: 'wire' })
  const ovs = needs.ovs ? startOvs(namespace, join(folder, 'ovs')) : null
  if (ovs) addBridge(namespace, ovs, BRIDGE, '02:00:00:00:00:01')
  else cable({ namespace, device: BRIDGE }, { namespace, device: 'other' })
  namespace.exec('ip', ['addr', 'add', '192.0.2.11/24', 'dev', BRIDGE])
  namespace.exec('ip', ['addr', 'add', '2001:db8::11/64', 'dev', BRIDGE, 'nodad'])
  return {
    namespace,
    ovs,
    prefix: ['nsenter', ...entering(namespace.name)],
    folder,
    close: () => {
      ovs?.stop()
      namespace.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const execOn = ({ prefix, folder }: Machine) => createExec({ prefix, scratch: [folder] })
