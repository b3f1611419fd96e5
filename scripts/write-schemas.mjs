// Writes schema/cluster.json from the schema that dist/ validates with. Touches the file only when it changes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { CLUSTER_SCHEMA } from '../dist/model/cluster-schema.js'

const path = new URL('../schema/cluster.json', import.meta.url)
const text = `${JSON.stringify(CLUSTER_SCHEMA, null, 2)}\n`
if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
