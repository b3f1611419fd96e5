import type { Family } from './address.js'
import type { Path } from './json.js'

/** Where the Network operator's object configures OVN-Kubernetes. */
export const OVN_CONFIG: Path = ['spec', 'defaultNetwork', 'ovnKubernetesConfig']
export const ROUTING_VIA_HOST: Path = [...OVN_CONFIG, 'gatewayConfig', 'routingViaHost']

/** Where it has the masquerade subnet of a family. */
export const masqueradePath = (family: Family): Path => [...OVN_CONFIG, 'gatewayConfig', `ipv${family}`, 'internalMasqueradeSubnet']
