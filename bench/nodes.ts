import type { Random } from './random.js'

/** Nodes of a rack share a primary network and, where they have a second NIC, a secondary one. */
export const RACK = 50

/** Slots of a rack to its egress pool; the last two nodes of a rack carry no egress traffic. A fifth of each pool has a second NIC. */
const POOLS = [
  ['shared', 20],
  ['gold', 35],
  ['silver', 45],
  ['bronze', 48],
] as const
export type Pool = (typeof POOLS)[number][0]
export const POOL_NAMES: readonly Pool[] = POOLS.map(([name]) => name)

export interface BenchNode {
  readonly name: string
  readonly rack: number
  readonly pool: Pool | null
  readonly zone: string
  readonly secondNic: boolean
}

export const poolOf = (slot: number): Pool | null => POOLS.find(([, end]) => slot < end)?.[0] ?? null

const hex = (value: number): string => value.toString(16)

/** Addresses of a rack by number: of its primary and of its secondary network, each in both families. Hosts begin at 10, egress IPs at 4096 or 100. */
export const primaryV4 = (rack: number, number: number): string => `10.${rack}.${number >> 8}.${number & 255}`
export const primaryV6 = (rack: number, number: number): string => `2001:db8:${hex(rack + 1)}::${hex(number)}`
export const secondaryV4 = (rack: number, number: number): string => `192.168.${rack}.${number}`
export const secondaryV6 = (rack: number, number: number): string => `2001:db8:${hex(0x1000 + rack)}::${hex(number)}`

const nodeName = (index: number): string => `node-${String(index).padStart(4, '0')}`

export const benchNodes = (count: number): readonly BenchNode[] =>
  Array.from({ length: count }, (_, index) => {
    const slot = index % RACK
    const rack = Math.floor(index / RACK)
    return { name: nodeName(index), rack, pool: poolOf(slot), zone: `zone-${'abc'[rack % 3]}`, secondNic: slot % 5 === 0 }
  })

/** The Node as `kubectl get nodes -o json` prints it on bare metal, dual stack; one in a hundred is not Ready. */
export function nodeObject(node: BenchNode, index: number, random: Random): object {
  const { name, rack, pool, zone, secondNic } = node
  const host = 10 + (index % RACK)
  const [v4, v6] = [primaryV4(rack, host), primaryV6(rack, host)]
  const second = secondNic ? [`${secondaryV4(rack, host)}/24`, `${secondaryV6(rack, host)}/64`] : []
  const mac = `52:54:00:${[index >> 16, (index >> 8) & 255, index & 255].map((byte) => hex(byte).padStart(2, '0')).join(':')}`
  const json = JSON.stringify
  const ready = !random.chance(0.01)
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      annotations: {
        'csi.volume.kubernetes.io/nodeid': json({ 'csi.example.com': name }),
        'k8s.ovn.org/host-cidrs': json([`${v4}/16`, `${v6}/64`, ...second, ...(index % RACK === 1 ? [`${primaryV4(rack, 300)}/32`] : [])]),
        'k8s.ovn.org/l3-gateway-config': json({
          default: {
            mode: 'shared',
            'bridge-id': 'br-ex',
            'interface-id': `br-ex_${name}`,
            'mac-address': mac,
            'ip-addresses': [`${v4}/16`, `${v6}/64`],
            'ip-address': `${v4}/16`,
            'next-hops': [primaryV4(rack, 1), primaryV6(rack, 1)],
            'next-hop': primaryV4(rack, 1),
            'node-port-enable': 'true',
            'vlan-id': '0',
          },
        }),
        'k8s.ovn.org/node-chassis-id': uid(random),
        'k8s.ovn.org/node-encap-ips': json([v4]),
        'k8s.ovn.org/node-id': String(index + 2),
        'k8s.ovn.org/node-masquerade-subnet': json({ ipv4: '169.254.0.0/17', ipv6: 'fd69::/112' }),
        'k8s.ovn.org/node-primary-ifaddr': json({ ipv4: `${v4}/16`, ipv6: `${v6}/64` }),
        'k8s.ovn.org/node-subnets': json({ default: [`${podV4(index, 0)}/25`, `${podV6(index, 0)}/64`] }),
        'k8s.ovn.org/node-transit-switch-port-ifaddr': json({
          ipv4: `100.88.${(index + 2) >> 8}.${(index + 2) & 255}/16`,
          ipv6: `fd97::${hex(index + 2)}/64`,
        }),
        'k8s.ovn.org/zone-name': name,
      },
      creationTimestamp: '2026-01-12T08:00:00Z',
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        ...(pool === null ? {} : { 'example.com/egress-pool': pool, 'k8s.ovn.org/egress-assignable': '' }),
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'node-role.kubernetes.io/worker': '',
        'topology.kubernetes.io/zone': zone,
      },
      name,
      resourceVersion: String(100_000 + index),
      uid: uid(random),
    },
    spec: { podCIDR: `${podV4(index, 0)}/25`, podCIDRs: [`${podV4(index, 0)}/25`, `${podV6(index, 0)}/64`] },
    status: {
      addresses: [
        { address: v4, type: 'InternalIP' },
        { address: v6, type: 'InternalIP' },
        { address: name, type: 'Hostname' },
      ],
      allocatable: { cpu: '63500m', memory: '256Gi', pods: '250' },
      capacity: { cpu: '64', memory: '257Gi', pods: '250' },
      conditions: [
        condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID'),
        condition('Ready', ready ? 'True' : 'Unknown', ready ? 'KubeletReady' : 'NodeStatusUnknown'),
      ],
      nodeInfo: {
        architecture: 'amd64',
        containerRuntimeVersion: 'cri-o://1.31.4',
        kernelVersion: '5.14.0',
        kubeletVersion: 'v1.31.6',
        operatingSystem: 'linux',
      },
    },
  }
}

const condition = (type: string, status: string, reason: string): object => ({
  lastHeartbeatTime: '2026-08-01T10:00:00Z',
  lastTransitionTime: '2026-02-01T10:00:00Z',
  message: `kubelet says ${reason}`,
  reason,
  status,
  type,
})

/** The pod subnets of a node: a /25 of 172.16.0.0/12 and a /64 of fd01::/48. */
export function podV4(node: number, pod: number): string {
  const value = node * 128 + pod
  return `172.${16 + (value >> 16)}.${(value >> 8) & 255}.${value & 255}`
}
export const podV6 = (node: number, pod: number): string => `fd01:0:0:${hex(node + 1)}::${pod === 0 ? '' : hex(pod)}`

export function uid(random: Random): string {
  const digits = (count: number): string => Array.from({ length: count }, () => hex(random.below(16))).join('')
  return `${digits(8)}-${digits(4)}-4${digits(3)}-a${digits(3)}-${digits(12)}`
}
