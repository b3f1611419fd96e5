import { OutputFault } from '../constructs/synth.js'

/** A command line that cannot be followed; the message says what to write instead. */
export class UsageError extends Error {}

/** The text of what ended a command: one line if the user can do something about it, else with the stack. */
export function faultText(fault: unknown): string {
  if (!(fault instanceof Error)) return `egretta: ${fault}\n`
  const expected = fault instanceof UsageError || fault instanceof OutputFault || 'syscall' in fault
  return `egretta: ${expected ? fault.message : (fault.stack ?? fault.message)}\n`
}
