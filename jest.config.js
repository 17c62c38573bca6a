// One for all suites of a run; its processes inherit it.
process.env.EVERDICT_TEST_SEED ??= String(Math.floor(Math.random() * 1e6));

const shared = {
  rootDir: '.',
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2022',
        },
        module: { type: 'es6' },
      },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.everdict/'],
};

/** Suites that need nothing running sit beside their code; the others share one Postgres and one Temporal server. */
export default {
  // Jest reads it here only. The first file of a suite also starts its servers.
  testTimeout: 30_000,
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/!(node_modules|dist|test)/**/*.test.ts'] },
    {
      ...shared,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/integration/**/*.test.ts'],
      globalSetup: '<rootDir>/test/setup.ts',
      globalTeardown: '<rootDir>/test/teardown.ts',
    },
    {
      ...shared,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
      globalSetup: '<rootDir>/test/setup.ts',
      globalTeardown: '<rootDir>/test/teardown.ts',
    },
    // Long: `npm run test:soak`.
    {
      ...shared,
      displayName: 'soak',
      testMatch: ['<rootDir>/test/soak/**/*.test.ts'],
      globalSetup: '<rootDir>/test/setup.ts',
      globalTeardown: '<rootDir>/test/teardown.ts',
    },
    // On a cluster of Kubernetes that is there already: `npm run test:k8s`.
    { ...shared, displayName: 'k8s', testMatch: ['<rootDir>/test/k8s/**/*.test.ts'] },
  ],
};
