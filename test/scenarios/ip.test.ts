import { expect, it } from 'vitest'
import { createNamespace } from '../lab/netns.js'
import { describeWith } from '../requires.js'
import { goldenOf, scenarios } from './scenario.js'

/** An entry of addresses.json, neighbors.json, routes.json or rules.json. */
interface Entry {
  readonly dev?: string
  readonly address?: string
  readonly dst?: string
  readonly lladdr?: string
  readonly gateway?: string
  readonly src?: string
  readonly mtu?: number
  readonly scope?: string
  readonly priority?: number
  readonly fwmark?: string
  readonly table?: string
}

type Files = Readonly<Record<'addresses' | 'neighbors' | 'routes' | 'rules', readonly Entry[]>>

/** The files of a bundle that iproute2 applies, their symbols replaced by a device and its index. Textual, so that our own parser has no part in it. */
const bundles = scenarios().flatMap((scenario) => {
  const golden = goldenOf(scenario)
  const read = (path: string): readonly Entry[] =>
    JSON.parse((golden.get(path) ?? '[]').replace(/ifindex\(network\([^)]*\)\)/g, '7').replace(/network\([^)]*\)/g, 'ens5'))
  return [...golden.keys()]
    .filter((path) => path.endsWith('/bundle.json'))
    .map((path) => path.replace(/bundle\.json$/, ''))
    .map((folder): readonly [string, Files] => [
      `${scenario.name}/${folder}`,
      {
        addresses: read(`${folder}addresses.json`),
        neighbors: read(`${folder}neighbors.json`),
        routes: read(`${folder}routes.json`),
        rules: read(`${folder}rules.json`),
      },
    ])
})

const isV6 = (text = ''): boolean => text.includes(':')
const option = (name: string, value: string | number | undefined): readonly string[] => (value === undefined ? [] : [name, String(value)])
/** `1000+7` */
const tableOf = (text = ''): string => (text.includes('+') ? String(text.split('+').reduce((sum, part) => sum + Number(part), 0)) : text)

/** Routes that stand for those of an interface are no route: their only word to the kernel is the interface. */
const isCopy = ({ dst = '' }: Entry): boolean => dst.startsWith('routes-of(')

/** What a host has before: its interfaces, the addresses that routes prefer, and on the management port one beside the gateway of its pods. */
function surroundings({ addresses, neighbors, routes }: Files): readonly string[] {
  const devices = new Set([...addresses, ...neighbors, ...routes].flatMap(({ dev }) => dev ?? []))
  const own = routes.flatMap(({ src, dev, gateway }) => (src && !gateway ? [`${src} dev ${dev}`] : []))
  const beside = routes.flatMap(({ gateway, dev }) =>
    gateway && dev === 'ovn-k8s-mp0' ? [`${gateway.replace(/1$/, '2')}${isV6(gateway) ? '/64' : '/24'} dev ${dev}`] : [],
  )
  return [
    ...[...devices].flatMap((device, at) => [
      `link add ${device} type veth peer name peer${at}`,
      `link set ${device} up`,
      `link set peer${at} up`,
    ]),
    ...[...new Set([...own, ...beside])].map((address) => `address add ${address}${isV6(address) ? ' nodad' : ''}`),
  ]
}

/** In the order of the agent: a gateway must be on a network of the host before a route leads through it. */
function commands({ addresses, neighbors, routes, rules }: Files, v6: boolean): readonly string[] {
  const lines: readonly (readonly string[])[] = [
    ...addresses
      .filter(({ address }) => isV6(address) === v6)
      .map(({ address, dev }) => [
        'address',
        'add',
        ...option('', address),
        ...option('dev', dev),
        ...(v6 ? ['nodad', 'preferred_lft', '0'] : []),
      ]),
    ...neighbors
      .filter(({ dst }) => isV6(dst) === v6)
      .map(({ dst, lladdr, dev }) => [
        'neighbor',
        'add',
        ...option('', dst),
        ...option('lladdr', lladdr),
        ...option('dev', dev),
        'nud',
        'permanent',
      ]),
    ...routes
      .filter((route) => !isCopy(route) && isV6(route.dst) === v6)
      .map(({ dst, gateway, dev, src, mtu, scope, table }) => [
        'route',
        'add',
        ...option('', dst),
        ...option('via', gateway),
        ...option('dev', dev),
        ...option('src', src),
        ...option('mtu', mtu),
        ...option('scope', scope),
        ...option('table', table),
      ]),
    ...rules
      .filter(({ src }) => isV6(src) === v6)
      .map(({ priority, src, fwmark, table }) => [
        'rule',
        'add',
        ...option('priority', priority),
        ...option('from', src),
        ...option('fwmark', fwmark),
        ...option('lookup', tableOf(table)),
      ]),
  ]
  return lines.map((line) => line.filter((word) => word !== '').join(' '))
}

it('the golden bundles have entries of all four kinds, and routes that stand for those of an interface', () => {
  for (const kind of ['addresses', 'neighbors', 'routes', 'rules'] as const)
    expect(bundles.some(([, files]) => files[kind].length > 0)).toBe(true)
  expect(bundles.some(([, { routes }]) => routes.some(isCopy))).toBe(true)
})

describeWith(['root', 'linux', 'ip'], 'addresses, neighbors, routes and rules of every golden bundle', () => {
  it.each(bundles)('%s pass ip -batch', (_, files) => {
    const namespace = createNamespace('batch')
    const batch = (lines: readonly string[], ...options: readonly string[]) =>
      namespace.exec('ip', [...options, '-batch', '-'], { input: `${lines.join('\n')}\n` })
    const lineCount = (...args: readonly string[]) => namespace.exec('ip', args).stdout.split('\n').filter(Boolean).length
    try {
      batch(surroundings(files))
      const before = [lineCount('-4', 'rule', 'show'), lineCount('-6', 'rule', 'show')]
      batch(commands(files, false), '-4')
      batch(commands(files, true), '-6')
      const added = [lineCount('-4', 'rule', 'show'), lineCount('-6', 'rule', 'show')].map((count, at) => count - (before[at] ?? 0))
      expect(added).toEqual([false, true].map((v6) => files.rules.filter(({ src }) => isV6(src) === v6).length))
      expect(lineCount('neighbor', 'show', 'nud', 'permanent')).toBeGreaterThanOrEqual(files.neighbors.length)
    } finally {
      namespace.close()
    }
  })
})
