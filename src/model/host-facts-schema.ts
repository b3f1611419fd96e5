const prefix = { type: 'string', format: 'cidr' } as const
const text = { type: 'string', minLength: 1 } as const
const count = { type: 'integer', minimum: 0 } as const

/** JSON Schema of the kind HostFacts. `schema/host-facts.json` is written from it. */
export const HOST_FACTS_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://egretta.dev/schema/host-facts.json',
  title: 'HostFacts',
  description: 'What the host of a node is like, as egretta-agent facts prints it. What egretta made there is left out.',
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  additionalProperties: false,
  properties: {
    apiVersion: { const: 'egretta.dev/v1alpha1' },
    kind: { const: 'HostFacts' },
    metadata: {
      type: 'object',
      required: ['name'],
      properties: { name: { description: 'Name of the node.', ...text } },
    },
    spec: {
      type: 'object',
      required: ['tools', 'sysctls', 'interfaces', 'rules', 'routes', 'neighbors', 'configuredAddresses'],
      additionalProperties: false,
      properties: {
        tools: {
          description: 'The programs that are installed, of those that the agent uses.',
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'version'],
            additionalProperties: false,
            properties: {
              name: text,
              version: { description: 'As the program says it; null where it says none.', type: ['string', 'null'] },
            },
          },
        },
        sysctls: {
          description:
            'Kernel parameters in the words of sysctl(8), such as net.ipv4.conf.eth1/100.forwarding for eth1.100; without those that the kernel does not have.',
          type: 'object',
          additionalProperties: { type: 'integer' },
        },
        interfaces: {
          description: 'Network devices with an address that is not link-local, without lo.',
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'index', 'up', 'addresses'],
            additionalProperties: false,
            properties: {
              name: text,
              index: { description: 'Its ifindex.', type: 'integer', minimum: 1 },
              up: { type: 'boolean' },
              addresses: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['address', 'scope'],
                  additionalProperties: false,
                  properties: {
                    address: prefix,
                    scope: { description: 'global, link, host, …', ...text },
                    label: { description: 'Only where it is not the name of the device.', ...text },
                    secondary: { description: 'Whether another address of its network came first.', type: 'boolean' },
                    deprecated: { description: 'Whether its preferred lifetime is over.', type: 'boolean' },
                  },
                },
              },
            },
          },
        },
        rules: {
          description: 'Rules of the routing policy that neither the kernel nor egretta made.',
          type: 'array',
          items: {
            type: 'object',
            required: ['priority', 'src', 'table'],
            additionalProperties: false,
            properties: {
              priority: count,
              src: { description: '0.0.0.0/0 or ::/0 for all of a family.', ...prefix },
              iif: text,
              table: {
                description: 'Number of the table; null for a rule that does anything but look a table up.',
                type: ['integer', 'null'],
              },
              conditional: { description: 'Whether the rule asks for more than source and input device.', type: 'boolean' },
            },
          },
        },
        routes: {
          description: 'Routes of tables from 1000 on that egretta did not make.',
          type: 'array',
          items: {
            type: 'object',
            required: ['family', 'table', 'dst'],
            additionalProperties: false,
            properties: {
              family: { enum: ['inet', 'inet6'] },
              table: count,
              dst: { description: 'As ip(8) prints it.', ...text },
            },
          },
        },
        neighbors: {
          description: 'Entries of the neighbor tables that are not permanent: those count against gc_thresh3.',
          type: 'object',
          required: ['ipv4', 'ipv6'],
          additionalProperties: false,
          properties: { ipv4: count, ipv6: count },
        },
        configuredAddresses: {
          description: 'Addresses that configuration files of interfaces name, whatever the interface.',
          type: 'array',
          items: {
            type: 'object',
            required: ['address', 'file'],
            additionalProperties: false,
            properties: { address: text, file: text },
          },
        },
      },
    },
  },
} as const
