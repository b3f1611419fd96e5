import { type Request, run } from '../../src/agent/run.js'

/** A run in a process of its own, which can be killed: the request as JSON is the only argument. Prints its problems. */
const { problems } = await run(JSON.parse(process.argv[2] ?? '') as Request)
process.stdout.write(`${JSON.stringify(problems.map(({ code, message }) => `${code}: ${message}`))}\n`)
