// The import floors. Imports go down only; the left stair (place, compile, render, constructs) and the right stair
// (plan, host, agent) meet in model and syntax alone; only cli, index.ts and main.ts see both.
// test/house/floors.test.ts plants a violation of each kind and expects the rule's name.

/** What each folder of src/ may import beside itself. */
const FLOORS = {
  model: [],
  syntax: ['model'],
  place: ['model'],
  compile: ['model'],
  render: ['model', 'syntax'],
  plan: ['model', 'syntax'],
  constructs: ['model', 'syntax', 'place', 'compile', 'render'],
  host: ['model', 'syntax', 'plan'],
  agent: ['model', 'syntax', 'plan', 'host'],
  cli: ['model', 'syntax', 'place', 'compile', 'render', 'plan', 'constructs', 'host'],
}

const floors = Object.entries(FLOORS).map(([folder, below]) => ({
  name: `floor-${folder}`,
  severity: 'error',
  comment: `src/${folder} imports only ${[folder, ...below].join(', ')}`,
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: `^src/(${[folder, ...below].join('|')})/` },
}))

module.exports = {
  forbidden: [
    ...floors,
    {
      name: 'known-folder',
      severity: 'error',
      comment: 'a new folder of src/ needs a line in FLOORS',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: `^src/(${Object.keys(FLOORS).join('|')})/` },
    },
    {
      name: 'child-process-in-host',
      severity: 'error',
      comment: 'only src/host starts programs',
      from: { path: '^src/', pathNot: '^src/host/' },
      to: { dependencyTypes: ['core'], path: '^(node:)?child_process$' },
    },
    {
      name: 'files-in-few-places',
      severity: 'error',
      comment: 'only src/host, src/cli, src/main.ts and src/constructs/synth.ts touch files',
      from: { path: '^src/', pathNot: '^src/(host/|cli/|main\\.ts$|constructs/synth\\.ts$)' },
      to: { dependencyTypes: ['core'], path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'pure-built-ins',
      severity: 'error',
      comment: 'everything else uses no built-in module but crypto and net',
      from: { path: '^src/', pathNot: '^src/(host/|cli/|main\\.ts$|constructs/synth\\.ts$)' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|net|fs|fs/promises|child_process)$' },
    },
    {
      name: 'client-node-types-only',
      severity: 'error',
      comment: '@kubernetes/client-node takes long to load: `import type` only',
      from: { path: '^src/' },
      to: { path: '@kubernetes/client-node', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'small-node-image',
      severity: 'error',
      comment: 'nothing that the agent imports leads to cdk8s, constructs or handlebars',
      from: { path: '^src/(plan|host|agent)/' },
      to: { path: 'node_modules/(cdk8s|constructs|handlebars)/', reachable: true },
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'a cycle means that a noun is split in the wrong place',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'not-to-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts|examples)/' },
    },
    {
      name: 'not-to-dev-dependency',
      severity: 'error',
      comment: 'what src/ imports is installed with the package',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'not-to-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
}
