import { contains, type Family, type Prefix, parsePrefix } from '../model/address.js'
import type { HostFacts, HostRuleFact } from '../model/host-facts.js'
import { EGRESS_RULE_PRIORITY, MARK_RULE_PRIORITY } from '../model/numbers.js'
import type { Problem } from '../model/problem.js'
import type { Needs, Say, UsedInterface } from './needs.js'
import { counted } from './style.js'

/** What of others stands in the way of egretta's tables and rules. */
export const routingProblems = (needs: Needs, used: readonly UsedInterface[], facts: HostFacts, say: Say): readonly Problem[] => [
  ...(needs.makes.routes ? tableProblems(needs, used, facts, say) : []),
  ...rulesOf(facts).flatMap((rule) => ruleProblems(needs, rule, facts, say)),
]

const option = (family: Family): string => (family === 6 ? ' -6' : '')

function tableProblems({ tableBase }: Needs, used: readonly UsedInterface[], { routes }: HostFacts, say: Say): readonly Problem[] {
  return used.flatMap(({ network, link }) => {
    const { family } = network.address
    const table = tableBase + link.index
    const foreign = routes.flatMap((route, index) =>
      route.table === table && route.family === (family === 4 ? 'inet' : 'inet6') ? [{ route, index }] : [],
    )
    const [first] = foreign
    if (!first) return []
    return [
      say('TableInUse', {
        message: `table ${table}, which is to hold the routes of ${link.name}, has ${counted(foreign.length, 'route')} of somebody else, to ${first.route.dst} for one`,
        remedy: `If nobody needs them: ip${option(family)} route flush table ${table}; else set Cluster.spec.routeTable so that no table is used twice.`,
        path: ['routes', first.index],
      }),
    ]
  })
}

interface Rule extends HostRuleFact {
  readonly index: number
  readonly from: Prefix
}

const rulesOf = ({ rules }: HostFacts): readonly Rule[] =>
  rules.flatMap((rule, index) => {
    const from = parsePrefix(rule.src)
    return from ? [{ ...rule, index, from }] : []
  })

/** RT_TABLE_MAIN */
const MAIN = 254

/**
 * Whether a rule surely takes whatever it applies to. One for every source (of a VPN, such as Tailscale's 52) often leads to a table with
 * routes to a few networks only, and the look-up goes on behind it.
 */
const takesAll = ({ from, table }: Rule, { routes }: HostFacts): boolean =>
  from.length > 0 ||
  table === null ||
  table === MAIN ||
  routes.some((route) => route.table === table && parsePrefix(route.dst)?.length === 0)

/**
 * A rule that is asked before the pods' own, or at the same priority, and takes a pod wherever it goes: the pod would leave by another table,
 * and the leak filter drops what it sends. It is a warning where its table may have no route for it. A rule with more conditions does not,
 * as far as this can be told.
 */
function ruleProblems(needs: Needs, rule: Rule, facts: HostFacts, say: Say): readonly Problem[] {
  const { priority, from, table, index } = rule
  const { family } = from.address
  const own = priority === EGRESS_RULE_PRIORITY || priority === MARK_RULE_PRIORITY
  if (own && !needs.makes.rules) return []
  const takes = !rule.conditional && (rule.iif === undefined || rule.iif === needs.managementPort)
  const pods = takes && priority <= EGRESS_RULE_PRIORITY ? needs.pods.filter((pod) => contains(from, pod)) : []
  const source = from.length === 0 ? 'all' : rule.src
  const words = `from ${source}${rule.iif === undefined ? '' : ` iif ${rule.iif}`}${table === null ? '' : ` lookup ${table}`}`
  if (pods.length > 0) {
    const what = pods.length === 1 ? `the pod ${pods[0]?.text}` : `${pods.length} pods with an egress IP, ${pods[0]?.text} for one,`
    return [
      say('RuleInTheWay', {
        ...(!takesAll(rule, facts) && { severity: 'warning' as const }),
        message: `the rule "${priority}: ${words}" takes ${what}${takesAll(rule, facts) ? '' : ' wherever its table has a route,'} before the rule of priority ${EGRESS_RULE_PRIORITY} that leads to the egress IP`,
        remedy:
          table === null
            ? `Move it behind ${EGRESS_RULE_PRIORITY}: see ip${option(family)} rule show.`
            : `Move it behind: ip${option(family)} rule add priority ${EGRESS_RULE_PRIORITY + 1} ${words} && ip${option(family)} rule delete priority ${priority} ${words}`,
        path: ['rules', index],
      }),
    ]
  }
  const asked = priority === EGRESS_RULE_PRIORITY ? needs.pods.some((pod) => pod.family === family) : needs.marked.includes(family)
  if (!own || !asked) return []
  return [
    say('PriorityTaken', {
      message: `the rule "${priority}: ${words}" of somebody else has the priority of egretta's; ovnkube deletes rules of priority ${EGRESS_RULE_PRIORITY} when it starts`,
      remedy: `Give it a priority of its own: see ip${option(family)} rule show priority ${priority}.`,
      path: ['rules', index],
    }),
  ]
}
