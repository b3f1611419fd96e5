// The yardstick of the plan: reads the files it is given and parses them with the bare library, nothing else.
import { readFileSync } from 'node:fs'
import { loadAll } from 'js-yaml'

for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, 'utf8')
  if (file.endsWith('.json')) JSON.parse(text)
  else loadAll(text)
}
