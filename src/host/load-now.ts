import { spawnSync } from 'node:child_process'
import { closeSync } from 'node:fs'
import { type ExecOptions, inputFile, PATH, SCRATCH } from './exec.js'

/** Commands of nft that stand ready. */
export interface Ready {
  readonly text: string
  /** Loads them, one transaction, and waits for nothing else. Once; whether nft took them. */
  load(): boolean
  discard(): void
}

/** Longer than nft takes for ten thousand addresses. */
const WITHIN = 3_000

/** Puts commands (`nft -j -f`) where nft can read them, so that at the moment when they are needed only nft is to be started. */
export function readyNft({ prefix = [], scratch = SCRATCH, path = PATH }: ExecOptions, text: string): Ready {
  const fd = inputFile(scratch, text, 'nft')
  return {
    text,
    load() {
      const [program = 'nft', ...words] = [...prefix, 'nft', '-j', '-f', '-']
      const { status } = spawnSync(program, words, {
        env: { LC_ALL: 'C', PATH: path },
        stdio: [fd, 'ignore', 'ignore'],
        timeout: WITHIN,
        killSignal: 'SIGKILL',
      })
      return status === 0
    },
    discard: () => closeSync(fd),
  }
}
