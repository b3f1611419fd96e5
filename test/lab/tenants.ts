import { hardwareAddress, parseAddress } from '../../src/model/address.js'
import { networkOf, type Tenant } from './inputs.js'
import { cable, createNamespace, type Namespace } from './netns.js'
import { CLIENT, type LabNode } from './network.js'

/** The one pod of a tenant. Tenants may have the same addresses. */
export interface TenantPod {
  /** With prefix length. */
  readonly addresses: readonly string[]
  readonly gateways: readonly string[]
}

/** What br-int does with a tenant's packets in this lab. */
export interface TenantPorts {
  readonly pod: Namespace
  /** The packets of the pod carry this mark from now on, as the gateway router of OVN sets it for an egress IP; null: none. */
  mark(mark: number | null): void
}

/** Offsets of a tenant's gateway router in the masquerade subnets of the lab. */
const masqueradeOf = ({ id }: Tenant): readonly [ipv4: string, ipv6: string] => [
  `169.254.0.${10 + 2 * id - 1}`,
  `fd69::${(10 + 2 * id - 1).toString(16)}`,
]

const POD_MAC = '00:00:5e:00:53:aa'

/**
 * Joins a pod of a tenant to br-int, with flows that play OVN: its gateway router translates the pod to the tenant's masquerade address,
 * sets the mark of the egress IP, and sends to the external bridge; answers are translated back and go to the pod.
 */
export function joinTenant(
  { namespace, ovs, bridge, name, mac }: LabNode,
  tenant: Tenant,
  { addresses, gateways }: TenantPod,
): TenantPorts {
  const pod = createNamespace(tenant.name)
  const port = `pod-${tenant.name}`
  pod.exec('sysctl', ['-qw', 'net.ipv6.conf.default.dad_transmits=0'])
  cable({ namespace: pod, device: 'eth0', mac: POD_MAC }, { namespace, device: port })
  for (const address of addresses) pod.exec('ip', ['addr', 'add', address, 'dev', 'eth0', ...(address.includes(':') ? ['nodad'] : [])])
  for (const gateway of gateways) {
    const lladdr = hardwareAddress(parseAddress(gateway) as NonNullable<ReturnType<typeof parseAddress>>)
    pod.exec('ip', ['neigh', 'add', gateway, 'lladdr', lladdr, 'dev', 'eth0', 'nud', 'permanent'])
    pod.exec('ip', [gateway.includes(':') ? '-6' : '-4', 'route', 'add', 'default', 'via', gateway, 'dev', 'eth0'])
  }
  ovs.vsctl('add-port', 'br-int', port)
  const [inside, outside] = [port, `patch-br-int-to-${bridge}_${networkOf(tenant)}_${name}`].map((device) =>
    ovs.vsctl('get', 'interface', device, 'ofport'),
  )
  const zone = 100 + tenant.id
  const flows = (mark: number | null): readonly string[] =>
    (['ip', 'ipv6'] as const).flatMap((family, index) => {
      const marked = mark === null ? '' : `set_field:${mark}->pkt_mark,`
      const routed = `set_field:${mac}->eth_src,set_field:${CLIENT.mac}->eth_dst`
      // The table behind it matters: a flow of the next bridge sees the new source only after that.
      const translated = `ct(commit,zone=${zone},nat(src=${masqueradeOf(tenant)[index]}),table=1)`
      return [
        `table=0,priority=10,in_port=${inside},${family},actions=${marked}${routed},${translated}`,
        `table=1,priority=10,in_port=${inside},${family},actions=output:${outside}`,
        `table=0,priority=10,in_port=${outside},${family},actions=ct(zone=${zone},nat,table=1)`,
        `table=1,priority=10,in_port=${outside},${family},actions=set_field:${POD_MAC}->eth_dst,output:${inside}`,
      ]
    })
  const mark = (value: number | null): void => {
    for (const flow of flows(value)) ovs.ofctl('add-flow', 'br-int', flow)
  }
  mark(null)
  return { pod, mark }
}
