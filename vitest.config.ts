import { defineConfig } from 'vitest/config'

/** Folders whose tests start Open vSwitch, load nftables or measure times: one file after the other, on two cores. */
const machine = ['test/contract/**/*.test.ts', 'test/packet/**/*.test.ts', 'test/lab/**/*.test.ts', 'test/agent/**/*.test.ts']

/** Tests that `npm run soak` does for as long as it takes: those of test/soak.ts. */
const soak = {
  test: {
    name: 'soak',
    include: ['test/agent/killed-steps.test.ts', 'test/lab/planned.test.ts', 'test/lab/repaired.test.ts'],
    fileParallelism: false,
    testTimeout: 4 * 3600_000,
    hookTimeout: 120_000,
  },
}

const usual = [
  {
    test: {
      name: 'unit',
      include: ['test/**/*.test.ts'],
      exclude: machine,
      maxWorkers: 2,
      testTimeout: 30_000,
      hookTimeout: 60_000,
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: {
      name: 'machine',
      include: machine,
      fileParallelism: false,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      sequence: { groupOrder: 1 },
    },
  },
]

export default defineConfig({ test: { projects: process.env.EGRETTA_SOAK === '1' ? [soak] : usual } })
