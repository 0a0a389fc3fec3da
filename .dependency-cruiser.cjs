/** Dependency rules, described in CONTRIBUTING.md. A test breaks each of them on purpose. */
const contracts = '^services/contracts/';
/** Building blocks for services, which depend on contracts only. */
const kit = '^services/kit/';
/** Page folders that several pages share; other page folders are only imported by the frame. */
const sharedPages = '^renderer/src/pages/(access-tokens|grants|mail|notify|second-factor|service|settings-form)/';

module.exports = {
  forbidden: [
    {
      name: 'electron-only-in-shell',
      severity: 'error',
      from: { pathNot: '^main/shell/' },
      to: { path: '(^|node_modules/)electron(-store|-updater)?(/|$)' },
    },
    {
      name: 'service-imports-itself-and-contracts',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: [contracts, kit] },
      to: { path: '^(services|main|renderer)/', pathNot: ['^services/$1/', contracts, kit] },
    },
    {
      name: 'kit-imports-contracts-only',
      severity: 'error',
      from: { path: kit },
      to: { path: '^(services|main|renderer)/', pathNot: [kit, contracts] },
    },
    {
      name: 'renderer-imports-contracts-only',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^(services|main)/', pathNot: contracts },
    },
    {
      name: 'renderer-state-is-below-parts',
      severity: 'error',
      from: { path: '^renderer/src/(api|icons|state)/' },
      to: { path: '^renderer/src/', pathNot: '^renderer/src/(api|icons|state)/' },
    },
    {
      // See docs/decisions/0230.
      name: 'ui-library-only-in-menus-and-tabs',
      severity: 'error',
      from: { path: '^renderer/', pathNot: '^renderer/src/parts/(overlay/Menu|layout/Tabs)\\.svelte$' },
      to: { path: '(^|node_modules/)bits-ui(/|$)' },
    },
    {
      name: 'renderer-parts-are-below-pages',
      severity: 'error',
      from: { path: '^renderer/src/parts/' },
      to: { path: '^renderer/src/', pathNot: '^renderer/src/(api|icons|state|parts)/' },
    },
    {
      name: 'renderer-pages-are-below-frame',
      severity: 'error',
      from: { path: '^renderer/src/pages/' },
      to: { path: '^renderer/src/', pathNot: '^renderer/src/(api|icons|state|parts|pages)/' },
    },
    {
      name: 'page-does-not-import-another-page',
      severity: 'error',
      from: { path: '^renderer/src/pages/([^/]+)/' },
      to: { path: '^renderer/src/pages/[^/]+/', pathNot: ['^renderer/src/pages/$1/', sharedPages] },
    },
    {
      name: 'only-registry-imports-services',
      severity: 'error',
      from: { path: '^main/', pathNot: '^main/host/services/registry\\.ts$' },
      to: { path: '^services/', pathNot: [contracts, kit] },
    },
    { name: 'main-does-not-import-renderer', severity: 'error', from: { path: '^main/' }, to: { path: '^renderer/' } },
    {
      name: 'contracts-import-zod-and-messages-only',
      severity: 'error',
      from: { path: contracts },
      to: { pathNot: ['^services/contracts/', '^messages/', 'node_modules/zod/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'messages-import-nothing',
      severity: 'error',
      from: { path: '^messages/' },
      to: {
        pathNot: ['^messages/', 'node_modules/(intl-messageformat|@formatjs/icu-messageformat-parser)/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^services/[^/]+/domain(\\.ts$|/)' },
      to: {
        path: [
          'node_modules/(express|kysely|better-sqlite3|pg|undici)/',
          '^(node:)?(fs|path|net|http|https|crypto|child_process|os|stream|timers|worker_threads|dns|tls|zlib)(/|$)',
        ],
      },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-dev-dependency-in-production',
      severity: 'error',
      from: { path: '^(main|services)/' },
      // Electron is the runtime of the packaged app, not a package inside of it.
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/electron/' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^(svelte|\\$)' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.cache)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types', 'svelte'],
      extensions: ['.ts', '.js', '.mjs', '.svelte', '.json'],
    },
  },
};
