import js from '@eslint/js';
import globals from 'globals';
import typescript from 'typescript-eslint';
import {
  compositionRules,
  documentedExportRules,
  functionLengthRules,
  languageRules,
  sentenceRules,
} from './eslint.language.js';
import { guardedParsingRules } from './eslint.parsing.js';
import { platformRules } from './eslint.platform.js';
import { failureTextRules, messageRules, storedTextRules } from './eslint.messages.js';
import svelteConfig from './svelte.config.js';
import { testTextRules } from './eslint.test-texts.js';

// TypeScript reads components as the linter does, so that their types are made once for all files in place of once for each.
process.env['SVELTE_ESLINT_PARSER_EXPERIMENTAL_TS_SYS_HOOK'] ??= '1';
const { default: svelte } = await import('eslint-plugin-svelte');

/** Files that read texts of others: each foreign program is classified in one of them, and others parse a format. */
const sentenceReaders = [
  // Failures that a program or a library reports only as text.
  'services/addons/providers/premiumize.ts',
  'services/contracts/uptime/causes.ts',
  'services/contracts/notify/send-failure.ts',
  'services/data/engine/server-output.ts',
  'services/downloads/domain/engine-messages.ts',
  // Sentences of older versions, which stored no codes.
  'services/downloads/store/migration-failure-{codes,parameters}.ts',
  'services/sync/store/migration-failure-parameters.ts',
  'services/uptime/store/migration-stated-failures.ts',
  'services/git/engine/git-failure.ts',
  'services/kit/lost-connection.ts',
  'services/notify/destinations/chat/teams.ts',
  'services/sync/domain/failure-cause.ts',
  // Versions and addresses that a program prints when it starts.
  'services/downloads/engine/engines.ts',
  'services/git/engine/engine-spec.ts',
  'services/sync/engine/engine.ts',
  // Messages of programs and texts of addons and users, which are the input of these files.
  'services/addons/domain/{select-file,stream-text/*}.ts',
  'services/mail/domain/senders/*.ts',
  'services/notify/inbound/*.ts',
  'services/push/domain/natural-time.ts',
  // File formats, types of PostgreSQL, certificates and user agents.
  'renderer/src/pages/addons/configurations/player-format.ts',
  'renderer/src/pages/data/{rows/cell-format,policies/policy-templates,users/device-name}.ts',
  'renderer/src/parts/text/user-agent.ts',
  'renderer/src/parts/text/highlight-tokens.ts',
  'services/data/{postgrest-api/open-api,postgrest-api/parse/select,sql/typescript-types}.ts',
  'services/gateway/trust/page.ts',
  'services/git/lfs/pointer.ts',
  'services/mail/app-api/setup.ts',
  'services/push/attachments/file-type.ts',
];

export default typescript.config(
  { ignores: ['dist/', 'messages/generated/', 'node_modules/', '.cache/', 'test/fixtures/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.svelte', '**/*.svelte.ts'],
    extends: [typescript.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
        extraFileExtensions: ['.svelte'],
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { checkThenables: true }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Kysely tables are typed where a store names its schema; the contracts hand out Kysely<any> on purpose.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      // A handler may be async by its contract without awaiting anything itself.
      '@typescript-eslint/require-await': 'off',
    },
  },
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { globals: globals.browser, parserOptions: { parser: typescript.parser, svelteConfig } },
    rules: {
      'no-undef': 'off',
      // svelte-check knows the generics of a component, which the linter sees as any.
      '@typescript-eslint/no-unsafe-return': 'off',
      'prefer-const': ['error', { destructuring: 'all' }],
    },
  },
  {
    files: ['**/*.ts', '**/*.mjs', '**/*.js', '**/*.cjs'],
    ignores: ['renderer/**'],
    languageOptions: { globals: globals.node },
    rules: { 'no-undef': 'off' },
  },
  {
    files: ['renderer/public/{offline-shell,push-worker,service-worker}.js'],
    languageOptions: { globals: globals.serviceworker },
  },
  { files: ['renderer/public/theme.js'], languageOptions: { globals: globals.browser } },
  {
    // Tests read answers as what they are on the wire; the assertions are their types.
    files: ['test/**'],
    rules: {
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    rules: {
      'no-empty': ['error', { allowEmptyCatch: false }],
      // Prettier decides the layout of every line.
      'no-warning-comments': ['error', { terms: ['prettier-ignore'], location: 'anywhere' }],
      eqeqeq: 'error',
      'no-console': 'off',
    },
  },
  {
    // Responses of the host and the services begin in one place, which sends lengths, answers HEAD and ends unread requests.
    files: ['main/**/*.ts', 'services/**/*.ts'],
    ignores: ['services/kit/http/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['writeHead', 'setHeader', 'setHeaders', 'appendHeader'].map((property) => ({
          property,
          message: 'Use services/kit/http/respond.ts.',
        })),
      ],
    },
  },
  ...functionLengthRules(['main/**/*.ts', 'renderer/src/**/*.ts', 'scripts/**/*', 'services/**/*.ts']),
  ...documentedExportRules(['services/{contracts,kit}/**/*.ts']),
  ...sentenceRules(['main/**/*.ts', 'renderer/src/**/*.{ts,svelte}', 'services/**/*.ts'], sentenceReaders),
  // After the rules for sentences, because both restrict syntax.
  ...compositionRules(
    ['services/*/index.ts'],
    [
      'main/host/{capability-providers,host,host-control,kernel}.ts',
      'services/*/{compos,lifecycle}*.ts',
      'services/**/{create-*,stores,visitors,playback,metadata,status-page-feature}.ts',
    ],
  ),
  ...guardedParsingRules(
    ['main/**/*.ts', 'renderer/src/**/*.{ts,svelte}', 'scripts/**/*.{ts,mjs}', 'services/**/*.ts'],
    ['services/contracts/{is-record,parse-json,percent-encoding}.ts'],
  ),
  ...platformRules(['main/**/*.ts', 'services/**/*.ts'], ['{services/kit,main/host}/platform/**'], {
    files: ['scripts/**/*.{mjs,ts}'],
    layers: ['scripts/commands.mjs'],
  }),
  // Folders whose texts come from catalogs.
  ...messageRules(
    [
      'renderer/src/pages/*.ts',
      ...[
        'api',
        'frame',
        'pages/access',
        'pages/access-tokens',
        'pages/account',
        'pages/accounts',
        'pages/addons',
        'pages/backup',
        'pages/data',
        'pages/dead-letters',
        'pages/delivery',
        'pages/downloads',
        'pages/engines',
        'pages/gallery',
        'pages/git',
        'pages/grants',
        'pages/home',
        'pages/inbox',
        'pages/log',
        'pages/machine',
        'pages/mail',
        'pages/network',
        'pages/notifications',
        'pages/notify',
        'pages/push',
        'pages/second-factor',
        'pages/service',
        'pages/settings',
        'pages/settings-form',
        'pages/sync',
        'pages/uptime',
        'parts',
        'state',
      ].map((path) => `renderer/src/${path}/**/*.{ts,svelte}`),
      'main/**/*.ts',
      'services/{control,popups}/**/*.ts',
      'services/{gateway,sync,uptime}/**/*.ts',
      // Without the folders of the peers' APIs, whose texts stay in English.
      ...['addons', 'data', 'downloads'].map((service) => `services/contracts/${service}/**/*.ts`),
      'services/{addons,data,downloads}/*.ts',
      'services/addons/aggregate/!(installed-manifest|other-resources).ts',
      'services/addons/{app-api,playback,providers,proxy,sandbox}/**/*.ts',
      'services/addons/profiles/!(profiles).ts',
      'services/addons/upstream/!(addon).ts',
      'services/addons/domain/{*,expression/*,variants/*}.ts',
      'services/data/{app-api,csv,engine,keys,store}/**/*.ts',
      'services/data/auth-api/app-api/**/*.ts',
      'services/downloads/{add,app-api,cookies,domain,files,filters,portable,queue,reporting,run,subscriptions}/**/*.ts',
      'services/downloads/engine/!(engines).ts',
      'services/contracts/{mail,notify,push}/**/*.ts',
      'services/mail/**/*.ts',
      // The inbound adapters and the labels of metrics in destinations are not in catalogs.
      'services/notify/{accept,app-api,apprise-api,attachments,deliver,domain,history,import,keys,store}/**/*.ts',
      // The texts of ntfy are in English.
      'services/push/{access,app-api,delayed,import,metrics,publish,quiet,recurring,settings,store,web-push}/**/*.ts',
      'services/contracts/{gateway,sync,uptime}/**/*.ts',
      'services/*/manifest.ts',
      'services/{inbox,kit}/**/*.ts',
      'services/contracts/{*,git/*,inbox/*}.ts',
      // Without Gitea's API and payloads, whose texts stay in English, and data such as licenses and labels.
      'services/git/*.ts',
      'services/git/{account-data,app-api,portable,visitors}/**/*.ts',
      'services/git/repositories/{blame,objects,publish}.ts',
    ],
    // Names of fields in JSON Schema, the API description and the reason phrases of HTTP, which are in English.
    [
      'main/host/config/schema-texts.ts',
      'main/host/http/openapi.ts',
      'services/contracts/api.ts',
      'services/kit/http/listener.ts',
      'services/uptime/app-api/openapi.ts',
      // Texts of Uptime Kuma's protocol, which is in English, and the name of a program.
      'services/uptime/kuma-api/**',
      'services/uptime/wire/rss.ts',
      'services/sync/engine/engine-spec.ts',
      // Failures that are stored and sent to rclone's clients in English; failure-cause.ts has the texts for users.
      'services/sync/rclone-api/**',
      'services/sync/tasks/{links,local-mover,rclone-mover}.ts',
    ],
  ),
  ...testTextRules(
    ['test/{desktop,e2e,household,renderer,shell}/**/*.ts', 'test/services/gateway/**/*.ts'],
    [
      // The title of a video of the fixture site, and the name of a monitor group: data, which equal a message.
      'Harbour at dawn',
      'Behind a proxy',
      // A link in a message, and the reason of a failure that a test creates.
      'the log',
      'The disk is full.',
    ],
  ),
  ...storedTextRules(['main/**/*.ts', 'renderer/src/**/*.{ts,svelte}', 'services/**/*.ts']),
  ...failureTextRules(['main/**/*.ts', 'services/**/*.ts']),
  // Names, comments and test titles follow docs/glossary.md.
  ...languageRules(
    ['scripts/**/*.{ts,mjs}', 'main/**/*.ts', 'renderer/src/**/*.ts', 'services/**/*.ts'],
    ['test/**/*.test.ts'],
  ),
);
