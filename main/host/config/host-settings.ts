import * as m from '#messages/host-settings';
import { z } from 'zod';
import { formatLanguageName } from '../../../messages/format.ts';
import { languages } from '../../../messages/generated/languages.ts';
import { pathSetting } from '../../../services/kit/platform/path-setting.ts';
import { declaredFields } from './declared-settings.ts';

const hostName = z.string().regex(/^[a-z0-9.:[\]-]{1,253}$/i, { error: m.hostNameInvalid });
const origin = z.string().regex(/^https?:\/\/[^/\s]+$/i, { error: m.originInvalid });
/** Path on this computer; empty for none. */
export const path = z.string().max(4096).default('');

/** Settings of the host: the section `host` of homeport.yaml, which also contains fields of services. */
export const HostSettings = z.object({
  allowedHosts: z.array(hostName).default([]).meta({
    label: m.allowedHosts,
    help: m.allowedHostsHelp,
  }),
  allowedOrigins: z.array(origin).default([]).meta({
    label: m.allowedOrigins,
    help: m.allowedOriginsHelp,
  }),
  publicUrl: z
    .string()
    .max(2000)
    .regex(/^(|https?:\/\/[^\s?#]+)$/i, { error: m.publicUrlInvalid })
    .default('')
    .meta({
      label: m.publicUrl,
      help: m.publicUrlHelp,
    }),
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: m.trustedProxiesInvalid }))
    .max(100)
    .default([])
    .meta({
      label: m.trustedProxies,
      help: m.trustedProxiesHelp,
    }),
  language: z
    .enum(['', ...languages])
    .default('')
    .meta({
      live: true,
      label: m.language,
      help: m.languageHelp,
      choices: {
        '': m.languageSystem,
        ...Object.fromEntries(languages.map((language) => [language, formatLanguageName(language)])),
      },
    }),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .meta({
      label: m.logLevel,
      help: m.logLevelHelp,
      choices: {
        debug: m.logLevelDebug,
        info: m.logLevelInfo,
        warn: m.logLevelWarn,
        error: m.logLevelError,
      },
    }),
  logFormat: z
    .enum(['text', 'json'])
    .default('text')
    .meta({
      label: m.logFormat,
      help: m.logFormatHelp,
      choices: { text: m.logFormatText, json: m.logFormatJson },
    }),
  sessionDays: z.number().int().min(1).max(400).default(90).meta({
    unit: 'days',
    label: m.sessionDays,
    help: m.sessionDaysHelp,
    live: true,
  }),
  requireSecondFactor: z
    .enum(['off', 'administrators', 'everybody'])
    .default('off')
    .meta({
      label: m.requireSecondFactor,
      help: m.requireSecondFactorHelp,
      choices: {
        off: m.requireSecondFactorOff,
        administrators: m.requireSecondFactorAdministrators,
        everybody: m.requireSecondFactorEverybody,
      },
      live: true,
    }),
  openBrowser: z.boolean().default(true).meta({
    label: m.openBrowser,
    help: m.openBrowserHelp,
  }),
  keyring: z.boolean().default(true).meta({
    label: m.keyring,
    help: m.keyringHelp,
  }),
  backupFolder: pathSetting.default('').meta({
    label: m.backupFolder,
    help: m.backupFolderHelp,
    folder: true,
  }),
  backupEveryDays: z.int().min(0).max(365).default(0).meta({
    unit: 'days',
    label: m.backupEveryDays,
    help: m.backupEveryDaysHelp,
  }),
  backupKeep: z.int().min(1).max(1000).default(7).meta({
    label: m.backupKeep,
    help: m.backupKeepHelp,
  }),
  ...declaredFields,
  stopTimeout: z.int().min(1).max(300).default(10).meta({
    unit: 'seconds',
    label: m.stopTimeout,
    help: m.stopTimeoutHelp,
  }),
  drainTime: z.int().min(0).max(3600).default(0).meta({
    unit: 'seconds',
    label: m.drainTime,
    help: m.drainTimeHelp,
    live: true,
  }),
  restartWait: z.int().min(0).max(86_400).default(300).meta({
    unit: 'seconds',
    label: m.restartWait,
    help: m.restartWaitHelp,
  }),
  databaseUrl: z
    .string()
    .regex(/^(postgres(ql)?:\/\/.+)?$/, { error: m.databaseUrlInvalid })
    .default('')
    .meta({
      label: m.databaseUrl,
      help: m.databaseUrlHelp,
      secret: true,
    }),
  natsUrl: z
    .string()
    .max(2000)
    .regex(/^(|(nats|tls):\/\/\S+)$/i, { error: m.natsUrlInvalid })
    .default('')
    .meta({
      label: m.natsUrl,
      help: m.natsUrlHelp,
      secret: true,
    }),
  natsCredentialsFile: pathSetting.default('').meta({
    label: m.natsCredentialsFile,
    help: m.natsCredentialsFileHelp,
  }),
  s3Endpoint: z
    .string()
    .max(2000)
    .regex(/^(|https?:\/\/[^\s?#@]+)$/i, { error: m.s3EndpointInvalid })
    .default('')
    .meta({ label: m.s3Endpoint, help: m.s3EndpointHelp }),
  s3Bucket: z
    .string()
    .regex(/^(|[a-zA-Z0-9][a-zA-Z0-9._-]{1,62})$/, { error: m.s3BucketInvalid })
    .default('')
    .meta({ label: m.s3Bucket, help: m.s3BucketHelp }),
  s3Region: z.string().min(1).max(100).default('us-east-1').meta({ label: m.s3Region, help: m.s3RegionHelp }),
  s3AccessKey: z.string().max(500).default('').meta({ label: m.s3AccessKey, help: m.s3AccessKeyHelp }),
  s3SecretKey: z.string().max(500).default('').meta({
    label: m.s3SecretKey,
    help: m.s3SecretKeyHelp,
    secret: true,
  }),
  s3SecretKeyFile: pathSetting.default('').meta({ label: m.s3SecretKeyFile, help: m.s3SecretKeyFileHelp }),
  s3Prefix: z
    .string()
    .regex(/^[A-Za-z0-9._/-]{0,200}$/, { error: m.s3PrefixInvalid })
    .default('')
    .meta({ label: m.s3Prefix, help: m.s3PrefixHelp }),
  s3PathStyle: z.boolean().default(true).meta({ label: m.s3PathStyle, help: m.s3PathStyleHelp }),
  s3DirectDownloads: z.boolean().default(false).meta({
    label: m.s3DirectDownloads,
    help: m.s3DirectDownloadsHelp,
  }),
  s3Timeout: z.int().min(1).max(300).default(10).meta({
    unit: 'seconds',
    label: m.s3Timeout,
    help: m.s3TimeoutHelp,
  }),
  enginesFolder: pathSetting.default('').meta({
    label: m.enginesFolder,
    help: m.enginesFolderHelp,
  }),
  installEngines: z.boolean().default(true).meta({
    label: m.installEngines,
    help: m.installEnginesHelp,
  }),
});
export type HostSettings = z.infer<typeof HostSettings>;

/** Settings page of a field; `general` by default. */
export const hostAreas: Readonly<Partial<Record<keyof HostSettings, string>>> = {
  allowedHosts: 'network',
  allowedOrigins: 'network',
  trustedProxies: 'network',
  publicUrl: 'network',
  language: 'language',
  backupFolder: 'backup',
  backupEveryDays: 'backup',
  backupKeep: 'backup',
  logLevel: 'log',
  logFormat: 'log',
  enginesFolder: 'engines',
  installEngines: 'engines',
  keyring: 'desktop',
  sessionDays: 'signIn',
  requireSecondFactor: 'signIn',
};

/** Fields in the collapsed part of the form. */
export const advancedHostSettings: readonly (keyof HostSettings)[] = [
  ...(['authUsers', 'authAccess', 'authTokens', 'databaseUrl', 'enginesFolder'] as const),
  ...(['natsUrl', 'natsCredentialsFile'] as const),
  ...(['s3Endpoint', 's3Bucket', 's3Region', 's3AccessKey', 's3SecretKey', 's3SecretKeyFile'] as const),
  'drainTime',
  ...(['s3Prefix', 's3PathStyle', 's3DirectDownloads', 's3Timeout'] as const),
];

/** Environment name -> field of {@link HostSettings}. */
export const hostEnvironment: Readonly<Record<string, keyof HostSettings>> = {
  HOMEPORT_ALLOWED_HOSTS: 'allowedHosts',
  HOMEPORT_ALLOWED_ORIGINS: 'allowedOrigins',
  HOMEPORT_LANGUAGE: 'language',
  HOMEPORT_PUBLIC_URL: 'publicUrl',
  HOMEPORT_TRUSTED_PROXIES: 'trustedProxies',
  LOG_LEVEL: 'logLevel',
  LOGLEVEL: 'logLevel',
  LOG_FORMAT: 'logFormat',
  HOMEPORT_REQUIRE_SECOND_FACTOR: 'requireSecondFactor',
  HOMEPORT_OPEN_BROWSER: 'openBrowser',
  HOMEPORT_KEYRING: 'keyring',
  HOMEPORT_BACKUP_FOLDER: 'backupFolder',
  HOMEPORT_BACKUP_EVERY_DAYS: 'backupEveryDays',
  HOMEPORT_BACKUP_KEEP: 'backupKeep',
  HOMEPORT_STOP_TIMEOUT: 'stopTimeout',
  HOMEPORT_DRAIN_TIME: 'drainTime',
  HOMEPORT_RESTART_WAIT: 'restartWait',
  HOMEPORT_DATABASE_URL: 'databaseUrl',
  HOMEPORT_NATS_URL: 'natsUrl',
  HOMEPORT_NATS_CREDENTIALS_FILE: 'natsCredentialsFile',
  HOMEPORT_S3_ENDPOINT: 's3Endpoint',
  HOMEPORT_S3_BUCKET: 's3Bucket',
  HOMEPORT_S3_REGION: 's3Region',
  HOMEPORT_S3_ACCESS_KEY: 's3AccessKey',
  HOMEPORT_S3_SECRET_KEY: 's3SecretKey',
  HOMEPORT_S3_SECRET_KEY_FILE: 's3SecretKeyFile',
  HOMEPORT_S3_PREFIX: 's3Prefix',
  HOMEPORT_S3_PATH_STYLE: 's3PathStyle',
  HOMEPORT_S3_DIRECT_DOWNLOADS: 's3DirectDownloads',
  HOMEPORT_S3_TIMEOUT: 's3Timeout',
  HOMEPORT_ENGINES_DIR: 'enginesFolder',
  HOMEPORT_INSTALL_ENGINES: 'installEngines',
};
