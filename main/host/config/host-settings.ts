import { z } from 'zod';
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
        'Names, besides localhost and the loopback addresses, under which the listeners answer. Requests for any ' +
        'other name are refused, which protects against DNS rebinding.',
    }),
  allowedOrigins: z
    .array(origin)
    .default([])
    .meta({
      title: 'Allowed web origins',
      description:
        'Web pages of these origins may change things here, and sign in by the address (?auth=) as clients of the ' +
        'push server do. Pages of any other origin are refused.',
    }),
  publicUrl: z
    .string()
    .max(2000)
    .regex(/^(|https?:\/\/[^\s?#]+)$/i, 'Use an address such as https://home.example.org.')
    .default('')
    .meta({
      title: 'Public address',
      description:
        'The address at which other devices open these pages, for example through a proxy of your own. Links in ' +
        'messages begin with it. Leave empty to use the shared address of Homeport.',
    }),
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'Use an address or a network such as 10.0.0.0/8.'))
    .max(100)
    .default([])
    .meta({
      title: 'Trusted proxies',
      description:
        'Addresses and networks of reverse proxies in front of Homeport. Only their X-Forwarded-For, ' +
        'X-Forwarded-Proto and X-Forwarded-Host are believed.',
    }),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .meta({
      title: 'Log level',
      description: 'Fewer lines are easier to read; every step helps who looks for a defect.',
      choices: {
        debug: 'Every step',
        info: 'What happened, warnings, errors',
        warn: 'Warnings and errors',
        error: 'Errors only',
      },
    }),
  logFormat: z
    .enum(['text', 'json'])
    .default('text')
    .meta({
      title: 'Log format',
      description: 'For people, or for a log collector.',
      choices: { text: 'Lines of text', json: 'JSON' },
    }),
  sessionDays: z
    .number()
    .int()
    .min(1)
    .max(400)
    .default(90)
    .meta({
      title: 'Longest session (days)',
      description:
        'A sign-in in a browser ends after this time at the latest, and 30 days after its last use. People sign in ' +
        'again then.',
      live: true,
    }),
  requireSecondFactor: z
    .enum(['off', 'administrators', 'everybody'])
    .default('off')
    .meta({
      title: 'Require two-step sign-in',
      description:
        'These accounts must set up an authenticator app after they sign in with their password, before they can do ' +
        'anything else. Programs then need access tokens. Service accounts and sign-ins through a provider are not ' +
        'affected.',
      choices: { off: 'No account', administrators: 'Administrators', everybody: 'Every person' },
      live: true,
    }),
  openBrowser: z.boolean().default(true).meta({
    title: 'Open the browser',
    description: 'Where Homeport starts without its window, it opens these pages in the browser of this machine.',
  }),
  keyring: z
    .boolean()
    .default(true)
    .meta({
      title: 'Key in the keyring',
      description:
        "The desktop app lets the system's keyring keep the key of stored secrets, where there is a safe one. Then " +
        'only the desktop app of this person on this computer can read them: turn it off, and start the desktop ' +
        'app once, before you run Homeport without a window or move a backup to another computer.',
    }),
  backupFolder: z
    .string()
    .max(4096)
    .regex(/^(|[/\\]|[A-Za-z]:[/\\]).*/, 'Use an absolute path.')
    .default('')
    .meta({
      title: 'Folder of backups',
      description:
        'Where backups are written, best on another disk. Empty: a folder beside the data folder, with ' +
        '"-backups" behind its name.',
      folder: true,
    }),
  backupEveryDays: z.int().min(0).max(365).default(0).meta({
    unit: 'days',
    title: 'Time between backups',
    description: 'Homeport makes a backup by itself when the newest one is this old. 0: only when asked.',
  }),
  backupKeep: z.int().min(1).max(1000).default(7).meta({
    title: 'Backups to keep',
    description: 'When Homeport has made a backup by itself, it removes the oldest ones beyond this number.',
  }),
  ...declaredFields,
  stopTimeout: z.int().min(1).max(300).default(10).meta({
    unit: 'seconds',
    title: 'Time to stop',
    description: 'What running work gets to finish when Homeport stops.',
  }),
  restartWait: z
    .int()
    .min(0)
    .max(86_400)
    .default(300)
    .meta({
      unit: 'seconds',
      title: 'Wait before a restart',
      description:
        'When a changed setting restarts a service, its running transfers get this time to finish. Set it to 0 to ' +
        'restart at once.',
    }),
  databaseUrl: z
    .string()
    .regex(/^(postgres(ql)?:\/\/.+)?$/, 'Use an address such as postgres://user:password@host/database.')
    .default('')
    .meta({
      title: 'PostgreSQL address',
      description: 'Keeps all tables in this PostgreSQL database in place of SQLite files in the data folder.',
      secret: true,
    }),
  enginesFolder: path.meta({
    title: 'Folder of the engines',
    description:
      'Where outside programs such as yt-dlp are installed when they are missing. Empty: the folder engines in ' +
      'the data folder.',
  }),
  installEngines: z
    .boolean()
    .default(true)
    .meta({
      title: 'Install missing engines',
      description:
        'When Homeport starts and a program that a service needs is missing, such as yt-dlp or ffmpeg, it is ' +
        'fetched and verified.',
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
