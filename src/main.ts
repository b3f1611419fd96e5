import { faultText } from './cli/fault.js'
import { DEFAULT_PATHS, readProject } from './cli/project.js'
import { EXIT } from './cli/request.js'
import { clusterOf, synthesise } from './cli/synth.js'
import { processTerminal } from './cli/terminal.js'
import { NO_OPTIONS } from './place/place.js'

/**
 * The app that `cdk8s synth` runs: `node dist/main.js [DIRECTORY]`. Reads intent/, topology/ and egretta.lock.json of the
 * directory and writes what `egretta synth` writes there.
 */
const terminal = processTerminal()
const out = process.env.CDK8S_OUTDIR ?? 'out'
try {
  const project = readProject(DEFAULT_PATHS, process.argv[2])
  const cluster = clusterOf(project, out, { placement: NO_OPTIONS, allowUnassigned: false })
  process.exitCode = synthesise(cluster, project, { out, frozen: false }, terminal)
} catch (fault) {
  terminal.err(faultText(fault))
  process.exitCode = EXIT.failed
}
