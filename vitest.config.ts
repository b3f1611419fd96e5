import { defineConfig } from 'vitest/config'

/** Folders whose tests start Open vSwitch, load nftables or measure times: one file after the other, on two cores. */
const machine = ['test/contract/**/*.test.ts', 'test/packet/**/*.test.ts', 'test/lab/**/*.test.ts', 'test/agent/**/*.test.ts']

export default defineConfig({
  test: {
    projects: [
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
    ],
  },
})
