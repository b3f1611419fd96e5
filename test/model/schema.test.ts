import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { CLUSTER_SCHEMA } from '../../src/model/cluster-schema.js'
import { EGRESSIP_CRD } from '../../src/model/egressip-crd.js'
import { PROBE_RESULT_SCHEMA } from '../../src/model/probe-schema.js'
import { closed } from '../../src/model/schema.js'

describe('the schemas that inputs are checked against', () => {
  it.each([
    ['Cluster', CLUSTER_SCHEMA],
    ['EgressIP', closed(EGRESSIP_CRD.spec.versions[0].schema.openAPIV3Schema)],
    ['ProbeResult', PROBE_RESULT_SCHEMA],
  ])('are schemas: %s', (_, schema) => {
    expect(new Ajv({ strict: false }).validateSchema(schema)).toBe(true)
  })
})
