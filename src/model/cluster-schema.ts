import { DEFAULT_MTU, FIRST_CONNTRACK_ZONE, GENEVE_PORT, ROUTE_TABLE_BASE } from './numbers.js'
import { PROBLEMS } from './problem.js'

const prefixes = (description: string) => ({ description, type: 'array', items: { type: 'string', format: 'cidr' } })
const name = (description: string) => ({ description, type: 'string', minLength: 1 })
/** A Linux interface name: at most 15 characters (IFNAMSIZ), no slash, colon or blank. */
const device = (description: string) => ({ description, type: 'string', pattern: '^[^\\s/:]{1,15}$' })
const number = (description: string, minimum: number, maximum: number) => ({ description, type: 'integer', minimum, maximum })
const flag = (description: string) => ({ description, type: 'boolean' })

const SUBSYSTEMS = ['openflow', 'nftables', 'neighbors', 'addresses', 'rules', 'routes'] as const
const ownership = { enum: ['manage', 'verify', 'off'] }
const severity = { enum: ['error', 'warning', 'info', 'off'] }

/** JSON Schema of the kind Cluster. `schema/cluster.json` is written from it. */
export const CLUSTER_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://egretta.dev/schema/cluster.json',
  title: 'Cluster',
  description: 'What egretta has to know and no Kubernetes object says. Every field is optional.',
  type: 'object',
  required: ['apiVersion', 'kind'],
  additionalProperties: false,
  properties: {
    apiVersion: { const: 'egretta.dev/v1alpha1' },
    kind: { const: 'Cluster' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      additionalProperties: false,
      properties: {
        placement: {
          description:
            'enforced: egretta decides which node hosts an address. advisory: ovnkube does, and egretta predicts it. Default: advisory where the inputs show ovnkube, else enforced.',
          enum: ['enforced', 'advisory'],
        },
        ownership: {
          description: 'What the agent does with a part of the host: manage it, verify it, or leave it alone.',
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries(SUBSYSTEMS.map((subsystem) => [subsystem, ownership])),
        },
        bridge: device('External bridge of every node. Default: what the annotation l3-gateway-config says.'),
        uplink: device('Physical port of the external bridge.'),
        guardDevice: device('Device that carries the guard while a node leaves. Default: the uplink.'),
        subnets: {
          description: 'Subnets that no egress IP may lie in. A list replaces the default of each address family that it names.',
          type: 'object',
          additionalProperties: false,
          properties: {
            pod: prefixes('Default: what the cluster objects say.'),
            service: prefixes('Default: what the cluster objects say.'),
            join: prefixes('Default: 100.64.0.0/16 and fd98::/64.'),
            transit: prefixes('Default: 100.88.0.0/16 and fd97::/64.'),
            masquerade: prefixes('Default: 169.254.169.0/29 and fd69::/125.'),
          },
        },
        nodes: {
          description: 'Devices of single nodes, by node name.',
          type: 'object',
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            properties: {
              bridge: device('External bridge of the node.'),
              uplink: device('Physical port of the bridge.'),
              guardDevice: device('Device that carries the guard. Default: the uplink.'),
            },
          },
        },
        unreachable: { description: 'Nodes that do not answer; they host nothing.', type: 'array', items: name('Node name.') },
        policy: {
          description: 'Severity of problems, by code. It changes what is reported, never the placement.',
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries(Object.keys(PROBLEMS).map((code) => [code, severity])),
        },
        gatewayMode: {
          description:
            'Gateway mode of the nodes. Default: what the Network operator (routingViaHost) or the ConfigMap gateway-mode-config says, else what each node says.',
          enum: ['shared', 'local'],
        },
        networkSegmentation: flag(
          'Whether ovnkube runs with network segmentation. Default: whether the inputs have a user-defined network or the CRD of one.',
        ),
        disableSnatMultipleGateways: flag(
          'Whether pods of the default network leave their node with their own addresses, as with --disable-snat-multiple-gws of ovnkube. Default: false.',
        ),
        mtu: number(
          `MTU of pods, in bytes. Default: what the Network operator or the ConfigMap ovn-config says, else ${DEFAULT_MTU}.`,
          576,
          65535,
        ),
        checkPacketLength: flag(
          'Whether nodes in local gateway mode measure replies to pods against the MTU; false as with --disable-pkt-mtu-check of ovnkube. Default: true.',
        ),
        genevePort: number(`UDP port of Geneve. Default: what the Network operator says, else ${GENEVE_PORT}.`, 1, 65535),
        conntrackZone: number(
          `First conntrack zone of the external bridge; four others follow it. Default: ${FIRST_CONNTRACK_ZONE}.`,
          1,
          65531,
        ),
        routeTable: number(
          `Number from which the route tables of secondary interfaces are counted: the index of the interface is added. Default: ${ROUTE_TABLE_BASE}.`,
          ROUTE_TABLE_BASE,
          2 ** 31 - 1,
        ),
        conntrack: {
          description:
            'What becomes of established connections of a pod that is given another egress IP on the same interface. flush: their conntrack entries are deleted, as they are where the egress IP goes. keep: they keep the old address until they end. Default: flush.',
          enum: ['flush', 'keep'],
        },
        release: {
          description:
            'OpenShift release, such as "4.9", in quotes: 4.10 without is the number 4.1. Default: what the ClusterVersion says, else a current one.',
          type: 'string',
          pattern: '^[0-9]+\\.[0-9]+(\\.[0-9].*)?$',
        },
        managementPort: device('Management port of ovnkube on the nodes. Default: ovn-k8s-mp0 where the inputs show ovnkube, else none.'),
        nftVersion: {
          description: 'Oldest nft on the nodes. From 1.0.9 on the guard may name the target of a neighbor solicitation. Default: 1.0.6.',
          type: 'string',
          pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$',
        },
      },
    },
  },
} as const
