import { z } from 'zod';
import { debridServices, type ServiceId } from './domain/debrid-services.ts';

const webAddress = z.string().regex(/^$|^https?:\/\/[^\s?#]+$/, 'Use a web address without a query.');

/** A service's part of the settings: default credentials, and another address of its API for tests and mirrors. */
function serviceFields(): Record<string, z.ZodType> {
  const fields: Record<string, z.ZodType> = {};
  for (const { id, name, credentials } of debridServices) {
    for (const credential of credentials)
      fields[credentialSetting(id, credential.id)] = z
        .string()
        .max(4096)
        .default('')
        .meta({
          title: `${name}: ${credential.name}`,
          description: 'Used where a configuration has none of its own.',
          ...(credential.type === 'password' ? { secret: true } : {}),
        });
    fields[`${id}Url`] = webAddress
      .default('')
      .meta({ title: `${name}: address`, description: 'Of its API. Empty: the service’s own.' });
  }
  return fields;
}

/** The setting that holds a default credential. */
export function credentialSetting(service: ServiceId, credential: string): string {
  return `${service}${credential.slice(0, 1).toUpperCase()}${credential.slice(1)}`;
}

const general = z.object({
  addonName: z.string().min(1).max(100).default('Homeport').meta({
    title: 'Name of the addon',
    description: 'As players list it. A configuration may have a name of its own.',
  }),
  addonId: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,100}$/, 'Use letters, digits, dots and - only.')
    .default('app.homeport.addons')
    .meta({ title: 'Id of the addon', description: 'Part of what players tell addons apart by.' }),
  baseUrl: webAddress.default('').meta({
    title: 'Public address',
    description: 'Where players reach this service, for install links. Empty: the address they asked at.',
  }),
  secretKey: z.string().max(1000).default('').meta({
    title: 'Secret key',
    description:
      '64 hexadecimal digits that seal the passwords in install links. Empty: one is made and kept in the vault. Another key makes all install links invalid.',
    secret: true,
  }),
  addonPassword: z.string().max(500).default('').meta({
    title: 'Password for new configurations',
    description: 'Who makes or changes one must know it. Players never need it. Empty: none.',
    secret: true,
  }),
  regexFilterAccess: z.string().max(500).default('all').meta({
    title: 'Who may use regular expressions',
    description:
      'all, none, trusted (those made on this page), or an expression that ids of configurations must match.',
  }),
  disableSelfScraping: z.boolean().default(false).meta({
    title: 'Refuse own addresses',
    description: 'Refuses other configurations of this service as addons, too. A configuration never contains itself.',
  }),
  allowPrivateAddresses: z.boolean().default(true).meta({
    title: 'Addons on this machine and network',
    description: 'Off: only addons on public addresses are asked.',
  }),
  maxAddons: z.int().min(1).max(200).default(30).meta({
    title: 'Most addons',
    description: 'Of one configuration.',
  }),
  timeout: z.int().min(1000).max(50_000).default(7000).meta({
    title: 'Patience with an addon (ms)',
    description: 'Used where an addon has no time-out of its own.',
  }),
  deadline: z.int().min(1000).max(60_000).default(9500).meta({
    title: 'Answer at the latest after (ms)',
    description: 'With what is there by then. Some players give up after 10 seconds.',
  }),
  maxCacheSize: z.int().min(1).max(1_000_000).default(1000).meta({
    title: 'Answers to remember',
    description: 'Entries of each cache. What was not used longest is forgotten first.',
  }),
  streamCacheSeconds: z.int().min(0).max(86_400).default(300).meta({
    title: 'Streams stay fresh for (s)',
    description: 'An older answer is shown at once and asked for again. 0: nothing is remembered.',
  }),
  disableRateLimits: z.boolean().default(false).meta({
    title: 'No limits on requests',
    description: 'For tests, and where another server limits them.',
  }),
  metadataUrl: webAddress.default('https://v3-cinemeta.strem.io').meta({
    title: 'Addon for titles',
    description: 'Asked for title, year and age rating where a filter or a search needs them. Empty: nobody is asked.',
  }),
  logSensitiveInfo: z.boolean().default(false).meta({
    title: 'Log addresses of addons',
    description: 'They often hold keys. Off: the log names hosts alone.',
  }),
  pikpakAuthUrl: webAddress.default('').meta({
    title: 'PikPak: address of the sign-in',
    description: 'Empty: the service’s own.',
  }),
  pikpakClientId: z.string().max(200).default('').meta({
    title: 'PikPak: client id',
    description: 'Of the app whose sign-in is used. It belongs to PikPak and comes with its apps.',
  }),
  pikpakClientSecret: z.string().max(200).default('').meta({
    title: 'PikPak: client secret',
    description: 'The same.',
    secret: true,
  }),
});

/** Section `services.addons` of the settings. */
export const Settings = general.extend(serviceFields());
export type Settings = z.infer<typeof general> & Readonly<Record<string, unknown>>;

function serviceEnvironment(): Record<string, string> {
  const names: Record<string, string> = {};
  const credentialNames: Readonly<Record<string, string>> = {
    apiKey: 'API_KEY',
    clientId: 'CLIENT_ID',
    token: 'TOKEN',
    username: 'USERNAME',
    email: 'EMAIL',
    password: 'PASSWORD',
  };
  for (const { id, letter, credentials } of debridServices) {
    for (const { id: credential } of credentials)
      names[`PROVIDER_${letter}_${credentialNames[credential] ?? ''}`] = credentialSetting(id, credential);
    names[`PROVIDER_${letter}_BASE_URL`] = `${id}Url`;
  }
  return names;
}

/** Environment name -> field; the names are the specification's. */
export const environment: Readonly<Record<string, string>> = {
  ADDON_NAME: 'addonName',
  ADDON_ID: 'addonId',
  BASE_URL: 'baseUrl',
  SECRET_KEY: 'secretKey',
  ADDON_PASSWORD: 'addonPassword',
  REGEX_FILTER_ACCESS: 'regexFilterAccess',
  DISABLE_SELF_SCRAPING: 'disableSelfScraping',
  DEFAULT_MAX_CACHE_SIZE: 'maxCacheSize',
  DISABLE_RATE_LIMITS: 'disableRateLimits',
  LOG_SENSITIVE_INFO: 'logSensitiveInfo',
  ...serviceEnvironment(),
  PROVIDER_G_AUTH_BASE_URL: 'pikpakAuthUrl',
  PROVIDER_G_CLIENT_ID: 'pikpakClientId',
  PROVIDER_G_CLIENT_SECRET: 'pikpakClientSecret',
  METADATA_URL: 'metadataUrl',
};
