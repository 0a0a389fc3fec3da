import { z } from 'zod';
import { pathSetting } from '../../../services/kit/platform/path-setting.ts';
import { declaredFields } from './declared-settings.ts';

const hostName = z.string().regex(/^[a-z0-9.:[\]-]{1,253}$/i, 'Use a host name or address, without http:// or a path.');
const origin = z
  .string()
  .regex(/^https?:\/\/[^/\s]+$/i, 'Use an origin such as https://app.example.org, without a path.');
/** Path on this computer; empty for none. */
export const path = z.string().max(4096).default('');

/** Settings of the host: the section `host` of homeport.yaml, which also contains fields of services. */
export const HostSettings = z.object({
  allowedHosts: z
    .array(hostName)
    .default([])
    .meta({
      title: 'Allowed host names',
      description:
        'Host names that requests may use in addition to localhost and the loopback addresses. Requests ' +
        'for other names are refused, which protects against DNS rebinding.',
    }),
  allowedOrigins: z
    .array(origin)
    .default([])
    .meta({
      title: 'Allowed web origins',
      description:
        'Web pages from these origins can send requests that change data and can sign in with the ?auth= ' +
        'query parameter, as push clients do. Pages from other origins are refused.',
    }),
  publicUrl: z
    .string()
    .max(2000)
    .regex(/^(|https?:\/\/[^\s?#]+)$/i, 'Use an address such as https://home.example.org.')
    .default('')
    .meta({
      title: 'Public address',
      description:
        'Address at which other devices open these pages, for example behind a reverse proxy. It is used ' +
        'for links in messages. Leave empty to use the address that Homeport shares on the network.',
    }),
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'Use an address or a network such as 10.0.0.0/8.'))
    .max(100)
    .default([])
    .meta({
      title: 'Trusted proxies',
      description:
        'Addresses and networks of reverse proxies in front of Homeport. The headers X-Forwarded-For, ' +
        'X-Forwarded-Proto and X-Forwarded-Host are only accepted from them.',
    }),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .meta({
      title: 'Log level',
      description: 'Minimum severity of log messages. Select Debug to diagnose a problem.',
      choices: {
        debug: 'Debug',
        info: 'Information',
        warn: 'Warnings and errors',
        error: 'Errors only',
      },
    }),
  logFormat: z
    .enum(['text', 'json'])
    .default('text')
    .meta({
      title: 'Log format',
      description: 'Select JSON for a log collector.',
      choices: { text: 'Text', json: 'JSON' },
    }),
  sessionDays: z.number().int().min(1).max(400).default(90).meta({
    title: 'Maximum session length (days)',
    description:
      'Browser sessions expire after this time, or after 30 days without use. Users then have to sign in again.',
    live: true,
  }),
  requireSecondFactor: z
    .enum(['off', 'administrators', 'everybody'])
    .default('off')
    .meta({
      title: 'Require two-step sign-in',
      description:
        'These accounts must set up an authenticator app after they sign in with a password. Programs then ' +
        'need access tokens. Service accounts and sign-ins through an identity provider are not affected.',
      choices: { off: 'Not required', administrators: 'Administrators', everybody: 'All users' },
      live: true,
    }),
  openBrowser: z.boolean().default(true).meta({
    title: 'Open the browser',
    description: 'Opens these pages in a browser on this computer when Homeport starts without its window.',
  }),
  keyring: z
    .boolean()
    .default(true)
    .meta({
      title: 'Store the key in the system keyring',
      description:
        'Stores the encryption key of stored secrets in the system keyring, if a secure one is available. ' +
        'Only the desktop app of this user on this computer can then decrypt them; backups of the app contain the ' +
        'key and can be restored on every computer. Before you run Homeport without a window or copy the data ' +
        'folder, disable this setting and start the desktop app once.',
    }),
  backupFolder: pathSetting.default('').meta({
    title: 'Backup folder',
    description:
      'Folder for backups, ideally on another disk. Leave empty to use a folder next to the data folder, ' +
      'with "-backups" added to its name.',
    folder: true,
  }),
  backupEveryDays: z.int().min(0).max(365).default(0).meta({
    unit: 'days',
    title: 'Backup interval',
    description:
      'Creates a backup automatically when the newest one is this old. Set to 0 to disable automatic backups.',
  }),
  backupKeep: z.int().min(1).max(1000).default(7).meta({
    title: 'Backups to keep',
    description: 'After an automatic backup, the oldest backups beyond this number are deleted.',
  }),
  ...declaredFields,
  stopTimeout: z.int().min(1).max(300).default(10).meta({
    unit: 'seconds',
    title: 'Shutdown timeout',
    description: 'How long running work may take to finish when Homeport stops.',
  }),
  restartWait: z
    .int()
    .min(0)
    .max(86_400)
    .default(300)
    .meta({
      unit: 'seconds',
      title: 'Restart delay',
      description:
        'How long running transfers may take to finish before a changed setting restarts their service. ' +
        'Set to 0 to restart immediately.',
    }),
  databaseUrl: z
    .string()
    .regex(/^(postgres(ql)?:\/\/.+)?$/, 'Use an address such as postgres://user:password@host/database.')
    .default('')
    .meta({
      title: 'PostgreSQL address',
      description: 'Stores all tables in this PostgreSQL database instead of SQLite files in the data folder.',
      secret: true,
    }),
  enginesFolder: pathSetting.default('').meta({
    title: 'Engines folder',
    description:
      'Folder in which missing programs such as yt-dlp are installed. Leave empty to use the folder ' +
      'engines in the data folder.',
  }),
  installEngines: z
    .boolean()
    .default(true)
    .meta({
      title: 'Install missing engines',
      description:
        'Downloads and verifies programs that a service needs and that are missing, such as yt-dlp or ' +
        'ffmpeg, when Homeport starts.',
    }),
});
export type HostSettings = z.infer<typeof HostSettings>;

/** Settings page of a field; `general` by default. */
export const hostAreas: Readonly<Partial<Record<keyof HostSettings, string>>> = {
  allowedHosts: 'network',
  allowedOrigins: 'network',
  trustedProxies: 'network',
  publicUrl: 'network',
  backupFolder: 'backup',
  backupEveryDays: 'backup',
  backupKeep: 'backup',
  logLevel: 'log',
  logFormat: 'log',
  enginesFolder: 'engines',
  installEngines: 'engines',
  keyring: 'desktop',
};

/** Fields in the collapsed part of the form. */
export const advancedHostSettings: readonly (keyof HostSettings)[] = [
  ...(['authUsers', 'authAccess', 'authTokens', 'databaseUrl', 'enginesFolder'] as const),
];

/** Environment name -> field of {@link HostSettings}. */
export const hostEnvironment: Readonly<Record<string, keyof HostSettings>> = {
  HOMEPORT_ALLOWED_HOSTS: 'allowedHosts',
  HOMEPORT_ALLOWED_ORIGINS: 'allowedOrigins',
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
  HOMEPORT_RESTART_WAIT: 'restartWait',
  HOMEPORT_DATABASE_URL: 'databaseUrl',
  HOMEPORT_ENGINES_DIR: 'enginesFolder',
  HOMEPORT_INSTALL_ENGINES: 'installEngines',
};
