/**
 * Who may import whom. One row a layer; the rules below are made from the rows, and test/architecture holds them.
 * `domain` is everybody's vocabulary; a layer that may import a port only as a type lists it under `types`.
 */

// A folder of src is a layer. `packageRoot` and `wiring` are single files, and `config` with a folder of rules.
const PORTS = ['sources', 'policy', 'store'];
/** Whoever starts and watches workflows; the worker's side is for programs. */
const TEMPORAL_CLIENT = 'temporal/(?!worker\\b)[^/]+';
const HTTP = ['express', 'helmet', 'zod', '@asteasolutions/zod-to-openapi'];

/** @type {Record<string, {ours?: string[], types?: string[], packages?: string[], builtins?: string[]}>} */
const LAYERS = {
  // Pure: they also run where there is no Node.
  domain: { builtins: [] },
  workflows: {
    ours: ['domain'],
    types: ['activities'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
    builtins: [],
  },
  proof: { ours: ['domain'], packages: ['canonicalize'], builtins: ['crypto'] },
  validation: { ours: ['domain', 'proof'], packages: ['ajv', 'ajv-formats', 'piscina', 're2js'] },
  keys: { ours: ['domain'], packages: ['jose'] },

  // The outside world, one driver each, never one another.
  sources: { ours: ['domain', 'proof', 'telemetry'], packages: ['@modelcontextprotocol/sdk', 'zod'] },
  policy: { ours: ['domain', 'proof', 'telemetry'], packages: ['zod'] },
  store: { ours: ['domain', 'proof', 'telemetry'], packages: ['pg', 'node-pg-migrate'] },

  // What Genlock does. Ports come as types; wiring hands in the real ones.
  usecases: { ours: ['domain', 'proof', 'validation', 'keys', 'telemetry'], types: PORTS },
  activities: {
    ours: ['domain', 'proof', 'validation', 'keys', 'usecases', 'telemetry'],
    types: PORTS,
    packages: ['@temporalio/activity', '@temporalio/common'],
  },
  temporal: {
    ours: ['domain', 'workflows/contract', 'telemetry'],
    types: ['activities', 'workflows'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/worker'],
  },

  // The edges.
  api: {
    ours: ['domain', 'usecases', TEMPORAL_CLIENT, 'telemetry'],
    types: [...PORTS, 'keys'],
    packages: HTTP,
  },
  gateway: {
    ours: ['domain', 'usecases', TEMPORAL_CLIENT, 'telemetry'],
    types: [...PORTS, 'keys'],
    packages: [...HTTP, '@modelcontextprotocol/sdk'],
  },
  client: { types: ['domain'], packages: ['jose'] },
  server: { types: ['domain'] },
  cli: {
    ours: ['domain', 'client', 'config', 'proof', 'store/postgres/migrate', 'telemetry'],
    packages: ['commander'],
  },
  telemetry: { ours: ['domain'], types: ['config'], packages: ['pino', 'prom-client'] },
  packageRoot: { builtins: ['url'] },
  config: { ours: ['domain'], packages: ['zod'] },
};

/** These see everything of ours. Who may import them: wiring by bin and dev, dev by bin, bin by nobody. */
const ROOTS = ['wiring', 'bin', 'dev'];

const here = (layer) => `^src/${layer}(/|\\.ts$)`;
const anyOf = (layers) => `^src/(${layers.join('|')})(/|\\.ts$)`;
const packagePath = (name) => `(^|/)node_modules/(@types/)?${name.replace('@types/', '')}/`;
/** Type positions: `import type`, `export type`, `import('…').T`. */
const TYPES = ['type-only', 'type-import'];
const PACKAGES = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'];

const layerRules = Object.entries(LAYERS).flatMap(([layer, row]) => {
  const { ours = [], types = [], packages = [], builtins } = row;
  const from = { path: here(layer) };
  const rules = [
    {
      name: `${layer}-imports`,
      comment: `${layer} runs code of: ${ours.join(', ') || 'nothing else of ours'}`,
      severity: 'error',
      from,
      to: {
        path: '^(src|test|scripts|bench|examples)/',
        pathNot: anyOf([layer, ...ours]),
        dependencyTypesNot: TYPES,
      },
    },
    {
      name: `${layer}-types`,
      comment: `${layer} names types of: ${[...ours, ...types].join(', ') || 'nothing else of ours'}`,
      severity: 'error',
      from,
      to: {
        path: '^(src|test|scripts|bench|examples)/',
        pathNot: anyOf([layer, ...ours, ...types]),
        dependencyTypes: TYPES,
      },
    },
    {
      name: `${layer}-packages`,
      comment: `${layer} uses the packages: ${packages.join(', ') || 'none'}`,
      severity: 'error',
      from,
      to: {
        dependencyTypes: PACKAGES,
        ...(packages.length > 0 && { pathNot: packages.map(packagePath) }),
      },
    },
  ];
  if (builtins)
    rules.push({
      name: `${layer}-builtins`,
      comment: `${layer} uses of Node: ${builtins.join(', ') || 'nothing'}`,
      severity: 'error',
      from,
      to: {
        dependencyTypes: ['core'],
        ...(builtins.length > 0 && { pathNot: `^(node:)?(${builtins.join('|')})$` }),
      },
    });
  return rules;
});

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'known-layer',
      comment: 'Every file of src belongs to a layer of the table above.',
      severity: 'error',
      from: { path: '^src/', pathNot: anyOf([...Object.keys(LAYERS), ...ROOTS]) },
      to: {},
    },
    {
      name: 'bin-is-a-root',
      comment: 'Programs start; nobody imports them.',
      severity: 'error',
      from: { pathNot: '^(src/bin/|test/)' },
      to: { path: '^src/bin/' },
    },
    {
      name: 'roots-below-nobody',
      comment: 'wiring and dev are for programs only.',
      severity: 'error',
      from: { path: '^src/', pathNot: anyOf(ROOTS) },
      to: { path: anyOf(ROOTS) },
    },
    {
      name: 'no-cycle',
      comment: 'A cycle of imports is two files that are one.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: TYPES } },
    },
    {
      name: 'no-unresolved',
      comment: 'An import that leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-package',
      comment:
        'What a deployment runs comes with `npm ci --omit=dev`. The embedded stack is for development.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/dev/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: TYPES, pathNot: '(^|/)node_modules/@types/' },
    },
    {
      name: 'no-undeclared-package',
      comment: 'A package that only another one brings can vanish.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['import', 'types', 'node', 'default'],
      exportsFields: ['exports'],
    },
  },
};
