import { Command } from 'commander'
import type { Question } from '../plan/explanation.js'
import type { Request } from './request.js'
import { commandOf, requestOf } from './request.js'

const QUESTIONS = [
  [
    'ip',
    'ADDRESS',
    'an egress IP in any spelling',
    'Who uses this address? Where is it, why there, why not elsewhere, and what does it make of the hosts?',
  ],
  ['pod', 'NAMESPACE/NAME', 'a pod', 'Which address does this pod use, through which object, and if none, why?'],
  ['node', 'NAME', 'a node', 'What does this node hold, what may it not host and why, is it probed, what is in its bundle?'],
  ['object', 'NAME', 'an EgressIP', 'Where are the addresses of this EgressIP, who uses them, and what do they make of the hosts?'],
] as const

/** `egretta explain ip|pod|node|object|probes`, with the inputs and options of `plan`. */
export function explainCommand(ask: (request: Request, question: Question) => Promise<void>): Command {
  const explain = new Command('explain').description(
    'Say of an address, a pod, a node or an EgressIP where, why, for whom and with which entries.',
  )
  for (const [kind, argument, means, description] of QUESTIONS) {
    explain.addCommand(
      commandOf(kind, description, { subject: { argument: `<${argument}>`, means } }).action((name, paths, options) =>
        ask(requestOf(paths, options), { kind, name }),
      ),
    )
  }
  explain.addCommand(
    commandOf('probes', 'Which nodes are probed for reachability, because of which objects?').action((paths, options) =>
      ask(requestOf(paths, options), { kind: 'probes', name: '' }),
    ),
  )
  return explain
}
