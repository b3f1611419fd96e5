import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pipelineFlows } from '../../src/render/flows.js'
import { type Flow, openflow, portSymbols, printFlow, withPorts } from '../../src/syntax/openflow.js'
import { createNamespace, type Namespace, run } from '../lab/netns.js'
import { addBridge, type OpenVSwitch, startOvs } from '../lab/ovs.js'
import { BRIDGES } from '../render/bridges.js'
import { describeWith } from '../requires.js'

const language = openflow('br-ex')

describeWith(['root', 'linux', 'ip', 'ovs'], 'the flow table on a bridge', () => {
  let namespace: Namespace
  let ovs: OpenVSwitch
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'eg-pipe-'))
    namespace = createNamespace('pipe')
    ovs = startOvs(namespace, folder)
    addBridge(namespace, ovs, 'br-ex')
  })
  afterAll(() => {
    namespace.close()
    rmSync(folder, { recursive: true })
  })

  it.each(Object.entries(BRIDGES))('%s: Open vSwitch takes every flow, and what it says it has is the same', (_, externalBridge) => {
    const rendered = pipelineFlows({ node: 'node-a', bridge: 'br-ex', externalBridge }).map(({ flow }) => flow)
    const symbols = [...new Set(rendered.flatMap(portSymbols).map(({ text }) => text))].sort()
    const flows = rendered.map((flow) => withPorts(flow, new Map(symbols.map((symbol, at) => [symbol, String(at + 1)]))))
    const [asked, dumped] = [join(folder, 'asked.flows'), join(folder, 'dumped.flows')]
    writeFileSync(asked, flows.map((flow) => `${printFlow(flow)}\n`).join(''))
    ovs.ofctl('replace-flows', 'br-ex', asked)
    const dump = ovs.ofctl('dump-flows', 'br-ex', '--no-stats', '--no-names')
    const plain = (list: readonly Flow[]) => list.map(printFlow).sort()
    expect(plain(language.parse(dump))).toEqual(plain(flows))
    writeFileSync(dumped, dump)
    expect(run('ovs-ofctl', ['-O', 'OpenFlow14', 'diff-flows', asked, dumped]).stdout).toBe('')
  })
})
