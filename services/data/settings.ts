import { z } from 'zod';
import { mailEnvironment, mailFields } from './auth-api/mail/settings.ts';

const databaseUrl = /^(postgres(ql)?:\/\/\S+)?$/;
const webAddress = /^(https?:\/\/[^\s]+)?$/;
const routineName = /^([^.\s]+\.[^.\s]+)?$/;
/** PostgreSQL parameter with a custom prefix, and its value. */
const appSetting = /^(?!(?:request|response|pgrst)\.)[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)+=/;
const schemaName = z.string().min(1).max(63);

/** Section `services.data` of the settings. */
export const Settings = z.object({
  jwtSecret: z
    .string()
    .max(1000)
    .refine((text) => text === '' || text.length >= 32, 'Use 32 characters or more.')
    .default('')
    .meta({
      title: 'JWT secret',
      description: 'What tokens are signed with. Empty: one that is made at the first start and kept in the vault.',
      secret: true,
    }),
  anonKey: z.string().max(4000).default('').meta({
    title: 'Anon key',
    description: 'The key that programs in browsers send. Empty: it is made from the JWT secret.',
    secret: true,
  }),
  serviceKey: z.string().max(4000).default('').meta({
    title: 'Service key',
    description: 'The key that passes all row policies. Empty: it is made from the JWT secret.',
    secret: true,
  }),
  autoconfirm: z.boolean().default(true).meta({
    live: true,
    title: 'Sign in without proof of the address',
    description: 'People who sign up are signed in at once. Off: once they follow the link in a mail.',
  }),
  anonymousSignIns: z.boolean().default(false).meta({
    live: true,
    title: 'Anonymous sign-ins',
    description: 'People may sign in without an address; they have the role authenticated.',
  }),
  signUp: z.boolean().default(true).meta({
    live: true,
    title: 'Sign-up',
    description: 'People may sign up themselves. Off: you add them, or a program with the service key.',
  }),
  siteUrl: z.string().max(2000).regex(webAddress, 'Use a web address.').default('').meta({
    live: true,
    title: 'Site address',
    description: 'Where links in mails lead in the end. Empty: the address of this service.',
  }),
  externalUrl: z.string().max(2000).regex(webAddress, 'Use a web address.').default('').meta({
    live: true,
    title: 'Address for clients',
    description:
      'Where clients and links of mails reach this service, needed behind a proxy under another name. Empty: as the request was sent.',
  }),
  redirectUrls: z.array(z.string().min(1).max(2000)).default([]).meta({
    live: true,
    title: 'Further addresses to lead to',
    description: 'Addresses besides the site that links may lead to, with * and **.',
  }),
  jwtExpiry: z.int().min(30).max(604_800).default(3600).meta({
    live: true,
    unit: 'seconds',
    title: 'Tokens are valid for',
    description: 'After that a client refreshes its access token.',
  }),
  ...mailFields,
  databaseUrl: z
    .string()
    .max(4000)
    .regex(databaseUrl, 'Use an address such as postgres://user:password@host/database.')
    .default('')
    .meta({
      title: 'PostgreSQL address',
      description:
        'Keeps the rows in this PostgreSQL database. Empty: in a PostgreSQL of its own that runs while it is used.',
      secret: true,
    }),
  schemas: z.array(schemaName).min(1).default(['public']).meta({
    live: true,
    title: 'Exposed schemas',
    description: 'Schemas whose tables and functions are served; the first is the default.',
  }),
  directPort: z.int().min(0).max(65_535).default(0).meta({
    title: 'Port for psql',
    description:
      'Opens the bundled PostgreSQL on this computer for psql, pg_dump and others. It then runs all the time. 0: closed.',
  }),
  directPassword: z
    .string()
    .max(200)
    .refine((text) => text === '' || text.length >= 12, 'Use 12 characters or more.')
    .default('')
    .meta({
      title: 'Password for psql',
      description: 'The password of the user postgres on that port. Without one the port stays closed.',
      secret: true,
    }),
  extraSearchPath: z.array(schemaName).default(['public', 'extensions']).meta({
    live: true,
    title: 'Further schemas on the search path',
    description: 'Schemas whose functions, types and operators statements of clients find without naming them.',
  }),
  preRequest: z.string().max(130).regex(routineName, 'Use a name such as public.check_request.').default('').meta({
    live: true,
    title: 'Function before each request',
    description:
      'Runs before each row request. It may refuse the request, change the role, set headers. Leave empty to run none.',
  }),
  appSettings: z
    .array(z.string().max(4000).regex(appSetting, 'Use a line such as app.settings.host=example.com.'))
    .default([])
    .meta({
      live: true,
      title: 'Parameters for functions',
      description:
        'Lines such as app.settings.host=example.com, which functions and policies read with current_setting.',
    }),
  jwtAudience: z.string().max(500).default('').meta({
    live: true,
    title: 'Audience of tokens',
    description: 'Refuses tokens that name another audience. Leave empty to accept every audience.',
  }),
  writesNeedFilter: z.boolean().default(false).meta({
    live: true,
    title: 'Refuse changes without a filter',
    description: 'Refuses to update or delete all rows of a table, as Supabase does. When off, it is done.',
  }),
  maxRows: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(1000)
    .meta({ live: true, title: 'Rows in an answer', description: 'No answer has more rows than this. 0: no limit.' }),
  bodyMebibytes: z.int().min(1).max(64).default(8).meta({
    live: true,
    unit: 'MiB',
    title: 'Largest body',
    description: 'Of a row request. The service key may always send 64 MiB.',
  }),
  batchSeconds: z.int().min(1).max(3600).default(30).meta({
    live: true,
    unit: 'seconds',
    title: 'Longest transaction',
    description: 'Of several requests that are sent as one.',
  }),
  aggregates: z.boolean().default(false).meta({
    live: true,
    title: 'Aggregates for all',
    description: 'All roles may ask for sums and averages. Off: the service key alone may.',
  }),
  plans: z.boolean().default(false).meta({
    live: true,
    title: 'Plans of statements',
    description: 'Clients may ask how PostgreSQL would answer a request, which tells about tables they cannot read.',
  }),
  sleepAfterMinutes: z.int().min(0).max(10_080).default(10).meta({
    live: true,
    unit: 'minutes',
    title: 'Sleeps after',
    description: 'PostgreSQL ends when nobody asked for so long, and starts at the next request. 0: it never sleeps.',
  }),
});
export type Settings = z.infer<typeof Settings>;

/** Environment names of the specification. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  DATA_JWT_SECRET: 'jwtSecret',
  DATA_ANON_KEY: 'anonKey',
  DATA_SERVICE_KEY: 'serviceKey',
  DATA_AUTOCONFIRM: 'autoconfirm',
  DATA_ANONYMOUS_SIGN_INS: 'anonymousSignIns',
  DATA_SITE_URL: 'siteUrl',
  DATA_EXTERNAL_URL: 'externalUrl',
  ...mailEnvironment,
  DATABASE_URL: 'databaseUrl',
};
