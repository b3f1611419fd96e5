import { describe, expect, it } from 'vitest'
import { EGRESSIP_CRD, takesNodeSelector } from '../../src/model/egressip-crd.js'
import { isObject } from '../../src/model/json.js'

const [version] = EGRESSIP_CRD.spec.versions
const schema = version.schema.openAPIV3Schema

/** Every schema below one, with the path that leads to it. */
function* schemas(of: unknown, path: string): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (!isObject(of)) return
  yield [path, of]
  for (const [name, inner] of Object.entries(isObject(of.properties) ? of.properties : {})) yield* schemas(inner, `${path}.${name}`)
  yield* schemas(of.items, `${path}[]`)
  yield* schemas(of.additionalProperties, `${path}.*`)
}

describe('the CustomResourceDefinition of EgressIP', () => {
  it('is cluster-scoped, eip for short, and has no status subresource', () => {
    expect(EGRESSIP_CRD.metadata.name).toBe(`${EGRESSIP_CRD.spec.names.plural}.${EGRESSIP_CRD.spec.group}`)
    expect(EGRESSIP_CRD.spec).toMatchObject({ scope: 'Cluster', names: { kind: 'EgressIP', shortNames: ['eip'] } })
    expect(version).toMatchObject({ name: 'v1', served: true, storage: true })
    expect(version).not.toHaveProperty('subresources')
    expect(version.additionalPrinterColumns.map(({ jsonPath }) => jsonPath)).toEqual([
      '.spec.egressIPs[*]',
      '.status.items[*].node',
      '.status.items[*].egressIP',
    ])
  })

  it('has a structural schema: every field has a type, and none is both listed and open', () => {
    for (const [path, { type, properties, additionalProperties, required }] of schemas(schema, '')) {
      expect(type, path).toEqual(expect.any(String))
      expect(properties !== undefined && additionalProperties !== undefined, path).toBe(false)
      for (const name of (required as string[]) ?? []) expect(properties, path).toHaveProperty(name)
    }
  })

  it('has one default: the nodes that are labelled as assignable', () => {
    const defaults = [...schemas(schema, '')].filter(([, inner]) => 'default' in inner)
    expect(defaults.map(([path, inner]) => [path, inner.default])).toEqual([
      ['.spec.egressNodeSelector', { matchExpressions: [{ key: 'k8s.ovn.org/egress-assignable', operator: 'Exists' }] }],
    ])
  })
})

describe('takesNodeSelector', () => {
  const definition = (spec: object, served?: boolean) => ({
    spec: { versions: [{ name: 'v1', served, schema: { openAPIV3Schema: { properties: { spec } } } }] },
  })

  it('is whether a served version keeps the field', () => {
    expect(takesNodeSelector(EGRESSIP_CRD)).toBe(true)
    expect(takesNodeSelector(definition({ properties: { egressIPs: {}, namespaceSelector: {}, podSelector: {} } }))).toBe(false)
    expect(takesNodeSelector(definition({ properties: { egressNodeSelector: {} } }))).toBe(true)
    expect(takesNodeSelector(definition({ properties: { egressNodeSelector: {} } }, false))).toBe(false)
    expect(takesNodeSelector(definition({ 'x-kubernetes-preserve-unknown-fields': true }))).toBe(true)
    for (const broken of [null, {}, { spec: { versions: 'v1' } }, { spec: { versions: [null] } }])
      expect(takesNodeSelector(broken)).toBe(false)
  })
})
