import { describe, listAt, type Path, valueAt, withoutNulls } from './json.js'
import type { Problem } from './problem.js'
import { isSelector, type LabelSelector, type Labels, matches, selectorFaults } from './selector.js'
import { malformed, type SourceObject } from './source.js'

/** Whose pod subnets a RouteAdvertisements object lets the nodes advertise by BGP. */
export interface RouteAdvertisement {
  readonly defaultNetwork: boolean
  /** By the labels of ClusterUserDefinedNetworks. */
  readonly selectors: readonly LabelSelector[]
}

const NOTHING: RouteAdvertisement = { defaultNetwork: false, selectors: [] }

/**
 * Reads a RouteAdvertisements object (k8s.ovn.org/v1). It counts where it advertises pod networks (not egress IPs alone) and ovnkube
 * did not refuse it. What cannot be read of it is an InvalidObject warning and selects nothing.
 */
export function readAdvertisement(object: SourceObject): { advertisement: RouteAdvertisement; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const refuse = (path: Path, message: string): undefined => {
    problems.push(malformed(object, path, message))
  }
  const accepted = listAt(object.value, ['status', 'conditions']).find((condition) => valueAt(condition, ['type']) === 'Accepted')
  if (!listAt(object.value, ['spec', 'advertisements']).includes('PodNetwork') || valueAt(accepted, ['status']) === 'False')
    return { advertisement: NOTHING, problems }
  const path: Path = ['spec', 'networkSelectors']
  const types = listAt(object.value, path).map((entry) => valueAt(entry, ['networkSelectionType']))
  const selectors = types.flatMap((type, index) =>
    type === 'ClusterUserDefinedNetworks'
      ? (selectorAt(object, [...path, index, 'clusterUserDefinedNetworkSelector', 'networkSelector'], refuse) ?? [])
      : [],
  )
  return { advertisement: { defaultNetwork: types.includes('DefaultNetwork'), selectors }, problems }
}

function selectorAt(object: SourceObject, path: Path, refuse: (path: Path, message: string) => undefined): LabelSelector | undefined {
  const selector = withoutNulls(valueAt(object.value, path))
  if (!isSelector(selector)) return refuse(path, `networkSelector must be a label selector; it is ${describe(selector)}`)
  const [fault] = selectorFaults(selector)
  return fault ? refuse([...path, ...fault.path], fault.message) : selector
}

/** Whether any of the objects advertises the pods of a ClusterUserDefinedNetwork with these labels. */
export const isAdvertised = (advertisements: readonly RouteAdvertisement[], labels: Labels): boolean =>
  advertisements.some(({ selectors }) => selectors.some((selector) => matches(selector, labels)))
