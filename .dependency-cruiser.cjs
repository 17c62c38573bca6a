/** Which folder may import which: the table of docs/architecture.md. Change both in one commit. */
const MAY_IMPORT = {
  contracts: [],
  policy: ['contracts'],
  workflows: ['policy', 'contracts', 'activities'],
  backends: ['contracts', 'policy', 'secrets/cluster-credential'],
  store: ['contracts', 'policy', 'migrations'],
  secrets: ['contracts', 'policy', 'store'],
  migrations: [],
  activities: ['contracts', 'policy', 'backends', 'store', 'secrets', 'workflows/messages'],
  reports: ['contracts'],
  api: ['contracts', 'policy', 'reports', 'backends', 'store', 'secrets', 'config', 'workflows/messages'],
  workers: ['contracts', 'policy', 'backends', 'store', 'secrets', 'config', 'workflows', 'activities'],
  cli: ['contracts', 'reports', 'config', 'dev'],
  action: ['contracts', 'reports', 'cli', 'config'],
  web: ['contracts'],
  dev: ['contracts', 'config', 'store'],
  config: ['contracts', 'policy'],
};

const layerRules = Object.entries(MAY_IMPORT).map(([layer, allowed]) => ({
  name: `${layer}-imports`,
  comment: `${layer}/ may import ${allowed.join(', ') || 'no other folder'}`,
  severity: 'error',
  from: { path: `^${layer}/`, pathNot: '\\.test\\.ts$' },
  to: {
    path: '^[a-z]+/',
    dependencyTypesNot: ['core'],
    pathNot: ['^node_modules/', `^${layer}/`, ...allowed.map((path) => `^${path}`)],
  },
}));

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    ...layerRules,
    {
      name: 'contracts-need-zod-only',
      severity: 'error',
      from: { path: '^contracts/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'core'], pathNot: '^node_modules/zod/' },
    },
    {
      name: 'policy-is-pure',
      comment: 'no Node built-ins, clock, randomness or environment',
      severity: 'error',
      from: { path: '^policy/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'core'], pathNot: '^node_modules/(re2js|ipaddr.js)/' },
    },
    {
      name: 'workflows-run-in-the-sandbox',
      severity: 'error',
      from: { path: '^workflows/', pathNot: '\\.test\\.ts$' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'core'],
        pathNot: '^node_modules/@temporalio/(workflow|common)/',
      },
    },
    {
      name: 'workflows-take-types-only',
      comment: 'the sandbox bundle stays small',
      severity: 'error',
      from: { path: '^workflows/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(contracts|activities)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-config-reads-the-environment-parser',
      severity: 'error',
      from: { path: '^(policy|store|backends|activities|workflows)/' },
      to: { path: '^config/' },
    },
    {
      name: 'tests-are-leaves',
      severity: 'error',
      from: { pathNot: '^(test|bench)/|\\.test\\.ts$|^wrapper/' },
      to: { path: '^(test|bench)/|\\.test\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|action/dist|node_modules|examples)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
