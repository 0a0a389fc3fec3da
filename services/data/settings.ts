import { z } from 'zod';
import { mailEnvironment, mailFields } from './auth/mail/settings.ts';

const databaseUrl = /^(postgres(ql)?:\/\/\S+)?$/;
const webAddress = /^(https?:\/\/[^\s]+)?$/;
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
    title: 'Sign in without proof of the address',
    description: 'People who sign up are signed in at once. Off: once they follow the link in a mail.',
  }),
  anonymousSignIns: z.boolean().default(false).meta({
    title: 'Anonymous sign-ins',
    description: 'People may sign in without an address; they have the role authenticated.',
  }),
  signUp: z.boolean().default(true).meta({
    title: 'Sign-up',
    description: 'People may sign up themselves. Off: you add them, or a program with the service key.',
  }),
  siteUrl: z.string().max(2000).regex(webAddress, 'Use a web address.').default('').meta({
    title: 'Site address',
    description: 'Where links in mails lead in the end. Empty: the address of this service.',
  }),
  externalUrl: z.string().max(2000).regex(webAddress, 'Use a web address.').default('').meta({
    title: 'Address for clients',
    description:
      'Where clients and links of mails reach this service, needed behind a proxy under another name. Empty: as the request was sent.',
  }),
  redirectUrls: z.array(z.string().min(1).max(2000)).default([]).meta({
    title: 'Further addresses to lead to',
    description: 'Addresses besides the site that links may lead to, with * and **.',
  }),
  jwtExpiry: z.int().min(30).max(604_800).default(3600).meta({
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
    title: 'Exposed schemas',
    description: 'Schemas whose tables and functions are served; the first is the default.',
  }),
  maxRows: z.int().min(0).max(1_000_000).default(1000).meta({
    title: 'Rows in an answer',
    description: 'No answer has more rows than this. 0: no limit.',
  }),
  bodyMebibytes: z.int().min(1).max(64).default(8).meta({
    unit: 'MiB',
    title: 'Largest body',
    description: 'Of a row request. The service key may always send 64 MiB.',
  }),
  batchSeconds: z.int().min(1).max(3600).default(30).meta({
    unit: 'seconds',
    title: 'Longest transaction',
    description: 'Of several requests that are sent as one.',
  }),
  aggregates: z.boolean().default(false).meta({
    title: 'Aggregates for all',
    description: 'All roles may ask for sums and averages. Off: the service key alone may.',
  }),
  plans: z.boolean().default(false).meta({
    title: 'Plans of statements',
    description: 'Clients may ask how PostgreSQL would answer a request, which tells about tables they cannot read.',
  }),
  sleepAfterMinutes: z.int().min(0).max(10_080).default(10).meta({
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
