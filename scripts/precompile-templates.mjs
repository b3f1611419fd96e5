// Writes src/render/templates.ts: the Handlebars templates as functions, so that rendering reads no file and the compiler stays out of
// dist/. `noEscape`, because flows are no HTML; `strict`, because a name that is missing must not become an empty text.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Handlebars from 'handlebars'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'templates')
const output = join(root, 'src/render/templates.ts')

const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.hbs'))
  .map((path) => path.slice(0, -'.hbs'.length))
  .sort()
const precompiled = names.map((name) => {
  const source = readFileSync(join(folder, `${name}.hbs`), 'utf8')
  const code = Handlebars.precompile(source, { strict: true, noEscape: true, knownHelpersOnly: true })
  return `  '${name}': Handlebars.template(${code}),`
})
const text = `// Written by scripts/precompile-templates.mjs from templates/. Not in git.
// @ts-nocheck
import Handlebars from 'handlebars/runtime.js'

export type TemplateName = ${names.map((name) => `'${name}'`).join(' | ')}

/** Path of a template below templates/, without .hbs, to what fills it in. Throws when the context lacks a name. */
export const templates: Readonly<Record<TemplateName, (context: object) => string>> = {
${precompiled.join('\n')}
}
`
if (!existsSync(output) || readFileSync(output, 'utf8') !== text) writeFileSync(output, text)
