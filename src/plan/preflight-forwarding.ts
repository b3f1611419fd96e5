import type { HostFacts } from '../model/host-facts.js'
import type { Problem } from '../model/problem.js'
import type { Needs, Say, UsedInterface } from './needs.js'

/** rp_filter of ip-sysctl: a packet is dropped unless its answer would leave through the interface it came in by. */
const STRICT = 1

/** A device in the name of a kernel parameter: its dots are slashes there (sysctl(8)). */
export const sysctlDevice = (device: string): string => device.replaceAll('.', '/')

/**
 * Whether the host forwards what pods send, which enters through the management port, and the replies, which enter through the secondary
 * interface. IPv4 asks the interface alone. IPv6 asks the whole host, and from Linux 6.17 on `force_forwarding` of the interface as well.
 */
export function forwardingProblems(needs: Needs, used: readonly UsedInterface[], facts: HostFacts, say: Say): readonly Problem[] {
  const { sysctls } = facts
  if (used.length === 0) return []
  const port = facts.interfaces.find(({ name }) => name === needs.managementPort)?.name ?? null
  const of = (family: 4 | 6) => {
    const devices = used.filter(({ network }) => network.address.family === family).map(({ link }) => link.name)
    return devices.length === 0 ? [] : [...new Set([...(port === null ? [] : [port]), ...devices])].sort()
  }
  const off = (family: 4 | 6, device: string): string =>
    `${device} does not forward IPv${family}, so ${device === port ? 'nothing of pods with an egress IP goes out' : 'replies to pods with an egress IP are dropped'}`
  const ipv4 = of(4).flatMap((device): readonly Problem[] => {
    const name = `net.ipv4.conf.${sysctlDevice(device)}.forwarding`
    if ((sysctls[name] ?? sysctls['net.ipv4.ip_forward']) !== 0) return []
    return [say('ForwardingOff', { message: off(4, device), remedy: `Switch it on: sysctl -w ${name}=1`, path: ['sysctls', name] })]
  })
  const everywhere = 'net.ipv6.conf.all.forwarding'
  const ipv6 = (sysctls[everywhere] === 0 ? of(6) : []).flatMap((device): readonly Problem[] => {
    const name = `net.ipv6.conf.${sysctlDevice(device)}.force_forwarding`
    if (sysctls[name] === 1) return []
    const wanted = sysctls[name] === undefined ? everywhere : name
    return [say('ForwardingOff', { message: off(6, device), remedy: `Switch it on: sysctl -w ${wanted}=1`, path: ['sysctls', wanted] })]
  })
  return [...ipv4, ...ipv6, ...entranceProblems(port, of, facts, say)]
}

/** What is asked where pods enter. Where it is not known where that is, only whether the host forwards at all. */
function entranceProblems(
  port: string | null,
  of: (family: 4 | 6) => readonly string[],
  { sysctls }: HostFacts,
  say: Say,
): readonly Problem[] {
  if (of(4).length === 0) return []
  if (port === null) {
    const name = 'net.ipv4.ip_forward'
    if (sysctls[name] !== 0) return []
    const message = 'IPv4 is not forwarded as a whole, and it is not known through which interface pods enter'
    const remedy = `Switch it on, sysctl -w ${name}=1, or name the interface in Cluster.spec.managementPort.`
    return [say('ForwardingOff', { severity: 'warning', message, remedy, path: ['sysctls', name] })]
  }
  const name = `net.ipv4.conf.${sysctlDevice(port)}.rp_filter`
  if (Math.max(sysctls[name] ?? 0, sysctls['net.ipv4.conf.all.rp_filter'] ?? 0) !== STRICT) return []
  const message = `rp_filter is strict on ${port}, so what a pod sends is dropped where the host would answer it another way`
  return [say('StrictReversePath', { message, remedy: `Make it loose: sysctl -w ${name}=2`, path: ['sysctls', name] })]
}
