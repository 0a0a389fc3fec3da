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
      description: 'Secret that signs tokens. Leave empty to use a secret generated at the first start.',
      secret: true,
    }),
  anonKey: z.string().max(4000).default('').meta({
    title: 'Anon key',
    description: 'API key for browsers and apps. Leave empty to derive it from the JWT secret.',
    secret: true,
  }),
  serviceKey: z.string().max(4000).default('').meta({
    title: 'Service key',
    description: 'API key that bypasses row security. Leave empty to derive it from the JWT secret.',
    secret: true,
  }),
  autoconfirm: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Confirm addresses automatically',
      description:
        'Users are signed in immediately after they sign up. When off, they must first follow the link in ' +
        'a confirmation email.',
    }),
  anonymousSignIns: z.boolean().default(false).meta({
    live: true,
    title: 'Anonymous sign-ins',
    description: 'Allows users to sign in without an email address, with the role authenticated.',
  }),
  signUp: z.boolean().default(true).meta({
    live: true,
    title: 'Sign-up',
    description: 'Allows users to sign up. When off, only you and programs with the service key can add users.',
  }),
  siteUrl: z.string().max(2000).regex(webAddress, 'Use a web address.').default('').meta({
    live: true,
    title: 'Site address',
    description: 'Page that links in emails redirect to. Leave empty to use the address of this service.',
  }),
  externalUrl: z
    .string()
    .max(2000)
    .regex(webAddress, 'Use a web address.')
    .default('')
    .meta({
      live: true,
      title: 'Public address',
      description:
        'Address at which clients reach this service, also used for links in emails. Leave empty to use ' +
        'the address of the request.',
    }),
  redirectUrls: z.array(z.string().min(1).max(2000)).default([]).meta({
    live: true,
    title: 'Redirect URLs',
    description: 'Addresses other than the site that links may redirect to. Use * and ** as wildcards.',
  }),
  jwtExpiry: z.int().min(30).max(604_800).default(3600).meta({
    live: true,
    unit: 'seconds',
    title: 'Access token lifetime',
    description: 'Clients must refresh their access token after this time.',
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
        'Stores the rows in this PostgreSQL database. Leave empty to use the bundled PostgreSQL, which ' +
        'runs on demand.',
      secret: true,
    }),
  schemas: z.array(schemaName).min(1).default(['public']).meta({
    live: true,
    title: 'Exposed schemas',
    description: 'Schemas whose tables and functions are available through the API. The first one is the default.',
  }),
  directPort: z
    .int()
    .min(0)
    .max(65_535)
    .default(0)
    .meta({
      title: 'Port for psql',
      description:
        'Port on this computer at which psql, pg_dump and other clients can connect to the bundled ' +
        'PostgreSQL, which then runs permanently. Set to 0 to disable.',
    }),
  directPassword: z
    .string()
    .max(200)
    .refine((text) => text === '' || text.length >= 12, 'Use 12 characters or more.')
    .default('')
    .meta({
      title: 'Password for psql',
      description: 'Password of the user postgres on this port. The port is only opened when a password is set.',
      secret: true,
    }),
  extraSearchPath: z.array(schemaName).default(['public', 'extensions']).meta({
    live: true,
    title: 'Extra search path',
    description: 'Schemas whose functions, types and operators can be used without a schema name.',
  }),
  preRequest: z
    .string()
    .max(130)
    .regex(routineName, 'Use a name such as public.check_request.')
    .default('')
    .meta({
      live: true,
      title: 'Pre-request function',
      description:
        'Function that runs before each row request. It can refuse the request, change the role or set ' +
        'headers. Leave empty to run none.',
    }),
  appSettings: z
    .array(z.string().max(4000).regex(appSetting, 'Use a line such as app.settings.host=example.com.'))
    .default([])
    .meta({
      live: true,
      title: 'App settings',
      description:
        'Parameters that functions and policies read with current_setting, one per line, such as ' +
        'app.settings.host=example.com.',
    }),
  jwtAudience: z.string().max(500).default('').meta({
    live: true,
    title: 'JWT audience',
    description: 'Rejects tokens for another audience. Leave empty to accept every audience.',
  }),
  writesNeedFilter: z.boolean().default(false).meta({
    live: true,
    title: 'Require a filter for updates and deletes',
    description: 'Rejects requests that would update or delete all rows of a table, as Supabase does.',
  }),
  maxRows: z.int().min(0).max(1_000_000).default(1000).meta({
    live: true,
    title: 'Maximum rows',
    description: 'Maximum number of rows in a response. Set to 0 for no limit.',
  }),
  bodyMebibytes: z.int().min(1).max(64).default(8).meta({
    live: true,
    unit: 'MiB',
    title: 'Maximum body size',
    description: 'Maximum body size of a row request. Requests with the service key can always send 64 MiB.',
  }),
  batchSeconds: z.int().min(1).max(3600).default(30).meta({
    live: true,
    unit: 'seconds',
    title: 'Transaction timeout',
    description: 'Maximum duration of a transaction that contains several requests.',
  }),
  aggregates: z.boolean().default(false).meta({
    live: true,
    title: 'Aggregate functions',
    description: 'Allows all roles to use aggregate functions such as sum and avg. When off, only the service key can.',
  }),
  plans: z.boolean().default(false).meta({
    live: true,
    title: 'Query plans',
    description:
      'Allows clients to request query plans. Plans reveal information about tables that clients cannot read.',
  }),
  sleepAfterMinutes: z
    .int()
    .min(0)
    .max(10_080)
    .default(10)
    .meta({
      live: true,
      unit: 'minutes',
      title: 'Idle timeout',
      description:
        'PostgreSQL stops after this time without requests and starts again at the next one. Set to 0 to ' +
        'keep it running.',
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

/** Returns the port for other programs, or 0 when no password is set. */
export function getDirectPort({ directPort, directPassword }: Pick<Settings, 'directPort' | 'directPassword'>): number {
  return directPassword === '' ? 0 : directPort;
}
