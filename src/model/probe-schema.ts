/** RFC 3339, with an offset or Z. */
const TIME = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$'

/** JSON Schema of the kind ProbeResult. `schema/probe-result.json` is written from it. */
export const PROBE_RESULT_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://egretta.dev/schema/probe-result.json',
  title: 'ProbeResult',
  description: 'Which nodes answered a reachability probe. Several objects add up; of several results for a node the newest counts.',
  type: 'object',
  required: ['apiVersion', 'kind', 'spec'],
  additionalProperties: false,
  properties: {
    apiVersion: { const: 'egretta.dev/v1alpha1' },
    kind: { const: 'ProbeResult' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['results'],
      additionalProperties: false,
      properties: {
        results: {
          type: 'array',
          items: {
            type: 'object',
            required: ['node', 'reachable'],
            additionalProperties: false,
            properties: {
              node: { description: 'Name of the node.', type: 'string', minLength: 1 },
              reachable: { description: 'Whether it answered within reachabilityTotalTimeoutSeconds.', type: 'boolean' },
              time: {
                description:
                  'When it was probed (RFC 3339). A result without a time is older than any with one; of equally old ones the one that says unreachable counts.',
                type: 'string',
                pattern: TIME,
              },
              method: { description: 'How it was probed, for example grpc or tcp. For the reader only.', type: 'string', minLength: 1 },
            },
          },
        },
      },
    },
  },
} as const
