// Builds dist/: precompiles the templates, compiles src/.
// Nothing is done when the inputs are those of the last build; `--force` builds all the same.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')
process.chdir(root)

const INPUTS = ['src', 'templates', 'scripts', 'tsconfig.json', 'package.json', 'package-lock.json']
const PROGRAMS = ['dist/cli/main.js', 'dist/agent/main.js']
const STAMP = 'dist/.built'

/** Every file below a path, sorted; the path itself if it is a file. */
function files(path) {
  if (!existsSync(path)) return []
  const entries = readdirSync(path, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

const inputFiles = () => INPUTS.flatMap((path) => (/\.json$/.test(path) ? [path] : files(path)))

function fingerprint() {
  const hash = createHash('sha256').update(process.version)
  for (const file of inputFiles()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** tsc leaves the output of sources that are gone. */
function removeOrphans() {
  for (const file of files('dist')) {
    const source = join('src', relative('dist', file)).replace(/(\.d\.ts|\.js|\.js\.map)$/, '.ts')
    if (source.endsWith('.ts') && !existsSync(source)) rmSync(file)
  }
}

const built = existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : ''
if (process.argv.includes('--force') || built !== fingerprint() || !PROGRAMS.every((program) => existsSync(program))) {
  rmSync(STAMP, { force: true })
  run('scripts/precompile-templates.mjs')
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json')
  removeOrphans()
  for (const program of PROGRAMS) if (existsSync(program)) chmodSync(program, 0o755)
  mkdirSync('dist', { recursive: true })
  writeFileSync(STAMP, fingerprint())
}
