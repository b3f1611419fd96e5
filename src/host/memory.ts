import { setFlagsFromString } from 'node:v8'

/**
 * Tells the engine to keep its memory small rather than to be as fast as can be. For a program that runs for years beside the pods of a node and
 * mostly waits: without it, what was needed once is kept for good.
 */
export function keepMemorySmall(): void {
  for (const flag of ['--optimize-for-size', '--max-semi-space-size=1', '--semi-space-growth-factor=1']) setFlagsFromString(flag)
}
