import { isSingle } from '../host/addresses.js'
import type { LiveRoute } from '../host/routes.js'
import { networkOf, printPrefix } from '../model/address.js'
import { EGRESS_NODE_MARK, EGRESS_RULE_PRIORITY, MARK_RULE_PRIORITY } from '../model/numbers.js'
import { type HostRoute, routes } from '../syntax/routes.js'
import { type HostRule, rules } from '../syntax/rules.js'
import type { Finding } from './finding.js'
import { leftoverProblem, leftoverRoutes } from './leftovers.js'

/** Whether a rule is of those that OVN-Kubernetes makes for egress IPs; nothing else has these priorities there. */
const isOfEgress = ({ priority, src, fwmark }: HostRule): boolean =>
  (priority === EGRESS_RULE_PRIORITY && fwmark === null && isSingle(src)) ||
  (priority === MARK_RULE_PRIORITY && fwmark === EGRESS_NODE_MARK)

/** Everything of a rule but the table. */
const packetsOf = (rule: HostRule): string => rules.key({ ...rule, table: '' })

/** Compares rules, whoever made them. */
export function ruleFindings(asked: readonly HostRule[], live: readonly HostRule[]): readonly Finding[] {
  const found = live.filter(isOfEgress)
  const there = new Set(found.map(rules.key))
  const wanted = new Set(asked.map(rules.key))
  const spare = new Map(found.filter((rule) => !wanted.has(rules.key(rule))).map((rule) => [packetsOf(rule), rule]))
  const lacking = asked
    .filter((rule) => !there.has(rules.key(rule)))
    .map((rule): Finding => {
      const other = spare.get(packetsOf(rule))
      const finding = { subsystem: 'rules', key: rules.key(rule), for: rule.for } as const
      if (other) return { ...finding, what: 'different', says: `the rule leads to table ${other.table}` }
      const says = rule.fwmark === null ? 'what the pod sends is routed as everything else' : 'replies to pods that meet a node go astray'
      return { ...finding, what: 'missing', says }
    })
  // One that leads to another table has been told of.
  const told = new Set(asked.filter((rule) => !there.has(rules.key(rule))).map(packetsOf))
  const stale = found
    .filter((rule) => !wanted.has(rules.key(rule)) && !told.has(packetsOf(rule)))
    .map((rule): Finding => {
      const says =
        rule.fwmark === null ? 'the bundle has no such pod for an egress IP' : 'it is of local gateway mode, which the node is not in'
      return { subsystem: 'rules', what: 'stale', key: rules.key(rule), says, for: null }
    })
  return [...lacking, ...stale]
}

/**
 * Compares routes, whoever made them: those of the main table that are asked for, and the tables of secondary interfaces. Such a table holds
 * the routes out of its interface, in whatever order and with whatever metric; the route with which egretta ends one is its own addition.
 */
export function routeFindings(asked: readonly HostRoute[], live: readonly LiveRoute[]): readonly Finding[] {
  const main = asked.filter(({ table }) => table === 'main')
  const copies = new Map<string, HostRoute[]>()
  for (const route of asked) {
    if (route.table === 'main' || route.type) continue
    const place = `${route.family} ${route.table}`
    copies.set(place, [...(copies.get(place) ?? []), route])
  }
  return [...mainFindings(main, live), ...[...copies.values()].flatMap((copy) => tableFindings(copy, live))]
}

function mainFindings(asked: readonly HostRoute[], live: readonly LiveRoute[]): readonly Finding[] {
  const leftovers = leftoverRoutes(asked, live)
  const there = new Map(live.map((route) => [routes.key(route), route]))
  const wrong = leftovers.map((each): Finding => {
    const { message, remedy } = leftoverProblem(each, 'warning')
    return { subsystem: 'routes', what: 'different', key: routes.key(each.desired), says: `${message}. ${remedy}`, for: each.desired.for }
  })
  const lacking = asked.flatMap((route): readonly Finding[] => {
    const found = there.get(routes.key(route))
    if ((found && routes.same(found, route)) || leftovers.some(({ desired }) => desired === route)) return []
    const finding = { subsystem: 'routes', key: routes.key(route), for: route.for } as const
    return [
      found
        ? { ...finding, what: 'different', says: `it is "${wordsOf(found)}", not "${wordsOf(route)}"` }
        : { ...finding, what: 'missing', says: `it should be "${wordsOf(route)}"` },
    ]
  })
  return [...wrong, ...lacking]
}

function tableFindings(copy: readonly HostRoute[], live: readonly LiveRoute[]): readonly Finding[] {
  const [first] = copy
  if (!first) return []
  const { table, family, dev } = first
  const there = live.filter((route) => route.family === family && route.table === table && !route.type)
  const name = `table ${table} (IPv${family})`
  if (there.length === 0) {
    return [
      { subsystem: 'routes', what: 'missing', key: name, says: 'it is empty, so its pods leave as everything else does', for: first.for },
    ]
  }
  const lacking = copy
    .filter((route) => !there.some((each) => wayOf(each) === wayOf(route)))
    .map((route): Finding => {
      const other = there.find((each) => destinationOf(each) === destinationOf(route) && !copy.some((one) => wayOf(one) === wayOf(each)))
      const finding = { subsystem: 'routes', key: routes.key(route), for: route.for } as const
      return other
        ? { ...finding, what: 'different', says: `it is "${wordsOf(other)}", not "${wordsOf(route)}"` }
        : { ...finding, what: 'missing', says: `it should be "${wordsOf(route)}"` }
    })
  const astray = there
    .filter((route) => route.dev !== dev && !copy.some((one) => destinationOf(one) === destinationOf(route)))
    .map(
      (route): Finding => ({
        subsystem: 'routes',
        what: 'stale',
        key: routes.key(route),
        says: `it leads out of another interface than ${dev}: "${wordsOf(route)}"`,
        for: null,
      }),
    )
  return [...lacking, ...astray]
}

const destinationOf = ({ dst }: HostRoute): string => (dst ? printPrefix(networkOf(dst)) : '')
const wayOf = (route: HostRoute): string => `${destinationOf(route)} ${route.gateway?.text ?? ''} ${route.dev}`

/** The route in the words of ip-route(8), as far as it is compared. */
const wordsOf = ({ dst, gateway, dev, src, mtu, table }: HostRoute): string =>
  [
    dst ? printPrefix(networkOf(dst)) : '',
    ...(gateway ? ['via', gateway.text] : []),
    ...(dev ? ['dev', dev] : []),
    ...(src && table === 'main' ? ['src', src.text] : []),
    ...(mtu !== null ? ['mtu', String(mtu)] : []),
  ].join(' ')
