import * as m from '#messages/data-settings';
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
    .refine((text) => text === '' || text.length >= 32, { error: m.jwtSecretInvalid })
    .default('')
    .meta({
      label: m.jwtSecret,
      help: m.jwtSecretHelp,
      secret: true,
    }),
  anonKey: z.string().max(4000).default('').meta({
    label: m.anonKey,
    help: m.anonKeyHelp,
    secret: true,
  }),
  serviceKey: z.string().max(4000).default('').meta({
    label: m.serviceKey,
    help: m.serviceKeyHelp,
    secret: true,
  }),
  autoconfirm: z.boolean().default(true).meta({
    live: true,
    label: m.autoconfirm,
    help: m.autoconfirmHelp,
  }),
  anonymousSignIns: z.boolean().default(false).meta({
    live: true,
    label: m.anonymousSignIns,
    help: m.anonymousSignInsHelp,
  }),
  signUp: z.boolean().default(true).meta({
    live: true,
    label: m.signUp,
    help: m.signUpHelp,
  }),
  siteUrl: z.string().max(2000).regex(webAddress, { error: m.siteUrlInvalid }).default('').meta({
    live: true,
    label: m.siteUrl,
    help: m.siteUrlHelp,
  }),
  externalUrl: z.string().max(2000).regex(webAddress, { error: m.externalUrlInvalid }).default('').meta({
    live: true,
    label: m.externalUrl,
    help: m.externalUrlHelp,
  }),
  redirectUrls: z.array(z.string().min(1).max(2000)).default([]).meta({
    live: true,
    label: m.redirectUrls,
    help: m.redirectUrlsHelp,
  }),
  jwtExpiry: z.int().min(30).max(604_800).default(3600).meta({
    live: true,
    unit: 'seconds',
    label: m.jwtExpiry,
    help: m.jwtExpiryHelp,
  }),
  ...mailFields,
  databaseUrl: z.string().max(4000).regex(databaseUrl, { error: m.databaseUrlInvalid }).default('').meta({
    label: m.databaseUrl,
    help: m.databaseUrlHelp,
    secret: true,
  }),
  schemas: z.array(schemaName).min(1).default(['public']).meta({
    live: true,
    label: m.schemas,
    help: m.schemasHelp,
  }),
  directPort: z.int().min(0).max(65_535).default(0).meta({
    label: m.directPort,
    help: m.directPortHelp,
  }),
  directPassword: z
    .string()
    .max(200)
    .refine((text) => text === '' || text.length >= 12, { error: m.directPasswordInvalid })
    .default('')
    .meta({
      label: m.directPassword,
      help: m.directPasswordHelp,
      secret: true,
    }),
  extraSearchPath: z.array(schemaName).default(['public', 'extensions']).meta({
    live: true,
    label: m.extraSearchPath,
    help: m.extraSearchPathHelp,
  }),
  preRequest: z.string().max(130).regex(routineName, { error: m.preRequestInvalid }).default('').meta({
    live: true,
    label: m.preRequest,
    help: m.preRequestHelp,
  }),
  appSettings: z
    .array(z.string().max(4000).regex(appSetting, { error: m.appSettingsInvalid }))
    .default([])
    .meta({
      live: true,
      label: m.appSettings,
      help: m.appSettingsHelp,
    }),
  jwtAudience: z.string().max(500).default('').meta({
    live: true,
    label: m.jwtAudience,
    help: m.jwtAudienceHelp,
  }),
  writesNeedFilter: z.boolean().default(false).meta({
    live: true,
    label: m.writesNeedFilter,
    help: m.writesNeedFilterHelp,
  }),
  maxRows: z.int().min(0).max(1_000_000).default(1000).meta({
    live: true,
    label: m.maxRows,
    help: m.maxRowsHelp,
  }),
  bodyMebibytes: z.int().min(1).max(64).default(8).meta({
    live: true,
    unit: 'MiB',
    label: m.bodyMebibytes,
    help: m.bodyMebibytesHelp,
  }),
  batchSeconds: z.int().min(1).max(3600).default(30).meta({
    live: true,
    unit: 'seconds',
    label: m.batchSeconds,
    help: m.batchSecondsHelp,
  }),
  aggregates: z.boolean().default(false).meta({
    live: true,
    label: m.aggregates,
    help: m.aggregatesHelp,
  }),
  plans: z.boolean().default(false).meta({
    live: true,
    label: m.plans,
    help: m.plansHelp,
  }),
  sleepAfterMinutes: z.int().min(0).max(10_080).default(10).meta({
    live: true,
    unit: 'minutes',
    label: m.sleepAfterMinutes,
    help: m.sleepAfterMinutesHelp,
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
