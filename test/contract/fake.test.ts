import { fakeSubsystem } from '../../src/host/fake.js'
import { addresses as addressLanguage } from '../../src/syntax/addresses.js'
import type { Language } from '../../src/syntax/language.js'
import { neighbors as neighborLanguage } from '../../src/syntax/neighbors.js'
import { nftables as nftLanguage } from '../../src/syntax/nftables.js'
import { openflow as flowLanguage } from '../../src/syntax/openflow.js'
import { routes as routeLanguage } from '../../src/syntax/routes.js'
import { rules as ruleLanguage } from '../../src/syntax/rules.js'
import { addresses, NEW_BRIDGE, neighbors, nftables, openflow, routes, rules } from './samples.js'
import { type Bench, contract, type Samples } from './suite.js'

function onFake<E>(name: string, language: Language<E>, samples: Samples<E>, foreign: readonly E[] = []): void {
  contract(`fake ${name}`, samples, async (): Promise<Bench<E>> => {
    const subsystem = fakeSubsystem(language, { foreign })
    return {
      subsystem,
      foreign: async () => language.print(subsystem.foreign),
      plant: async (entry) => {
        subsystem.foreign = [...subsystem.foreign, entry]
      },
      close: () => {},
    }
  })
}

onFake(
  'openflow',
  flowLanguage('br-ex'),
  { ...openflow, more: openflow.more.slice(0, 3), changed: openflow.changed?.slice(0, 3) ?? null },
  [NEW_BRIDGE],
)
onFake('nftables', nftLanguage, nftables)
onFake('neighbors', neighborLanguage, neighbors)
onFake('addresses', addressLanguage, addresses)
onFake('routes', routeLanguage, routes)
onFake('rules', ruleLanguage, rules)
