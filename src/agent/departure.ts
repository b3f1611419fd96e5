import { makeFolder, readText, removeFile, writeAtomic } from '../host/files.js'

/**
 * `departure` in the state folder says that this node has fallen silent and stays so, until an agent starts anew. Without it the agent that
 * runs would take the guard for drift and remove it.
 */
const file = (stateDir: string): string => `${stateDir}/departure`

export function depart(stateDir: string): void {
  makeFolder(stateDir)
  writeAtomic(file(stateDir), 'shutdown\n')
}

export const hasDeparted = (stateDir: string): boolean => readText(file(stateDir)) !== null

export function arrive(stateDir: string): void {
  if (hasDeparted(stateDir)) removeFile(file(stateDir))
}
