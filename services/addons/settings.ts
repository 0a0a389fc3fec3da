import { readText } from '../contracts/text.ts';
import * as m from '#messages/addons-settings';
import { z } from 'zod';
import { debridServices, type DebridService, type ServiceId } from './domain/debrid-services.ts';

const webAddress = z.string().regex(/^$|^https?:\/\/[^\s?#]+$/, { error: m.webAddressInvalid });

/** Returns the settings of each service: default credentials, and the base address of its API for tests and mirrors. */
function buildServiceFields(): Record<string, z.ZodType> {
  const fields: Record<string, z.ZodType> = {};
  for (const { id, name, credentials } of debridServices) {
    for (const credential of credentials)
      fields[getCredentialSetting(id, credential.id)] = z
        .string()
        .max(4096)
        .default('')
        .meta({
          live: true,
          label: () => m.serviceCredential({ name, credential: readText(credential.name) }),
          help: m.serviceCredentialHelp,
          ...(credential.type === 'password' ? { secret: true } : {}),
        });
    if (!hasApiKey(credentials))
      fields[`${id}ApiKey`] = z
        .string()
        .max(4096)
        .default('')
        .meta({
          live: true,
          label: () => m.combinedCredentials({ name }),
          help: () =>
            m.combinedCredentialsHelp({
              format: credentials.map((field) => readText(field.name).toLowerCase()).join(':'),
            }),
          secret: true,
        });
    fields[`${id}Url`] = webAddress.default('').meta({
      label: () => m.serviceUrl({ name }),
      help: m.serviceUrlHelp,
    });
  }
  return fields;
}

/** Returns true when the only credential of the service is an API key. */
function hasApiKey(credentials: DebridService['credentials']): boolean {
  return credentials.some(({ id }) => id === 'apiKey');
}

/** Returns the name of the setting that holds a default credential. */
function getCredentialSetting(service: ServiceId, credential: string): string {
  return `${service}${credential.slice(0, 1).toUpperCase()}${credential.slice(1)}`;
}

const general = z.object({
  addonName: z.string().min(1).max(100).default('Homeport').meta({
    live: true,
    label: m.addonName,
    help: m.addonNameHelp,
  }),
  addonId: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,100}$/, { error: m.addonIdInvalid })
    .default('app.homeport.addons')
    .meta({ live: true, label: m.addonId, help: m.addonIdHelp }),
  baseUrl: webAddress.default('').meta({
    live: true,
    label: m.baseUrl,
    help: m.baseUrlHelp,
  }),
  secretKey: z.string().max(1000).default('').meta({
    label: m.secretKey,
    help: m.secretKeyHelp,
    secret: true,
  }),
  addonPassword: z.string().max(2000).default('').meta({
    live: true,
    label: m.addonPassword,
    help: m.addonPasswordHelp,
    secret: true,
  }),
  regexFilterAccess: z.string().max(500).default('all').meta({
    live: true,
    label: m.regexFilterAccess,
    help: m.regexFilterAccessHelp,
  }),
  disableSelfScraping: z.boolean().default(false).meta({
    live: true,
    label: m.disableSelfScraping,
    help: m.disableSelfScrapingHelp,
  }),
  allowPrivateAddresses: z.boolean().default(true).meta({
    live: true,
    label: m.allowPrivateAddresses,
    help: m.allowPrivateAddressesHelp,
  }),
  maxAddons: z.int().min(1).max(200).default(30).meta({
    live: true,
    label: m.maxAddons,
    help: m.maxAddonsHelp,
  }),
  timeout: z.int().min(1000).max(50_000).default(7000).meta({
    live: true,
    unit: 'ms',
    label: m.timeout,
    help: m.timeoutHelp,
  }),
  deadline: z.int().min(1000).max(60_000).default(9500).meta({
    live: true,
    unit: 'ms',
    label: m.deadline,
    help: m.deadlineHelp,
  }),
  maxCacheSize: z.int().min(1).max(1_000_000).default(1000).meta({
    live: true,
    label: m.maxCacheSize,
    help: m.maxCacheSizeHelp,
  }),
  streamCacheSeconds: z.int().min(0).max(86_400).default(300).meta({
    live: true,
    unit: 'seconds',
    label: m.streamCacheSeconds,
    help: m.streamCacheSecondsHelp,
  }),
  disableRateLimits: z.boolean().default(false).meta({
    live: true,
    label: m.disableRateLimits,
    help: m.disableRateLimitsHelp,
  }),
  metadataUrl: webAddress.default('https://v3-cinemeta.strem.io').meta({
    emptyIsSet: true,
    label: m.metadataUrl,
    help: m.metadataUrlHelp,
  }),
  tmdbUrl: webAddress.default('https://api.themoviedb.org').meta({
    label: m.tmdbUrl,
    help: m.tmdbUrlHelp,
  }),
  seadexUrl: webAddress.default('https://releases.moe').meta({
    emptyIsSet: true,
    label: m.seadexUrl,
    help: m.seadexUrlHelp,
  }),
  animeMappingUrl: webAddress.default('https://api.ani.zip').meta({
    label: m.animeMappingUrl,
    help: m.animeMappingUrlHelp,
  }),
  logSensitiveInfo: z.boolean().default(false).meta({
    live: true,
    label: m.logSensitiveInfo,
    help: m.logSensitiveInfoHelp,
  }),
  pikpakAuthUrl: webAddress.default('').meta({
    label: m.pikpakAuthUrl,
    help: m.pikpakAuthUrlHelp,
  }),
  pikpakClientId: z.string().max(200).default('').meta({
    label: m.pikpakClientId,
    help: m.pikpakClientIdHelp,
  }),
  pikpakClientSecret: z.string().max(200).default('').meta({
    label: m.pikpakClientSecret,
    help: m.pikpakClientSecretHelp,
    secret: true,
  }),
});

/** Section `services.addons` of the settings. */
export const Settings = general.extend(buildServiceFields());
export type Settings = z.infer<typeof general> & Readonly<Record<string, unknown>>;

/** Returns the passwords that allow a client to create configurations. The peer separates them by commas. */
export function parseAddonPasswords({ addonPassword }: Settings): readonly string[] {
  return addonPassword
    .split(',')
    .map((password) => password.trim())
    .filter((password) => password !== '');
}

/** Returns the default credentials of a service from the settings. */
export function getDefaultCredentials(
  settings: Settings,
  { id, credentials }: DebridService,
): Readonly<Record<string, string>> {
  const defaults: Record<string, string> = {};
  const combinedCredential = hasApiKey(credentials) ? undefined : settings[`${id}ApiKey`];
  if (typeof combinedCredential === 'string' && combinedCredential !== '') {
    // Apps of put.io separate client ID and token by `@`, and a token can be used without a client ID.
    const pattern = id === 'putio' ? /^(?:([^@:]*)[@:])?(.+)$/s : /^([^:]*):(.+)$/s;
    const values = pattern.exec(combinedCredential)?.slice(1) ?? [];
    for (const [index, field] of credentials.entries()) if (values[index]) defaults[field.id] = values[index];
  }
  for (const field of credentials) {
    const configuredValue = settings[getCredentialSetting(id, field.id)];
    if (typeof configuredValue === 'string' && configuredValue !== '') defaults[field.id] = configuredValue;
  }
  return defaults;
}

function buildServiceEnvironment(): Record<string, string> {
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
      names[`PROVIDER_${letter}_${credentialNames[credential] ?? ''}`] = getCredentialSetting(id, credential);
    names[`PROVIDER_${letter}_API_KEY`] = `${id}ApiKey`;
    names[`PROVIDER_${letter}_BASE_URL`] = `${id}Url`;
  }
  return names;
}

/** Maps environment names of the specification to settings. */
export const environment: Readonly<Record<string, string>> = {
  ADDON_NAME: 'addonName',
  ADDON_ID: 'addonId',
  PORT: 'port',
  BASE_URL: 'baseUrl',
  SECRET_KEY: 'secretKey',
  ADDON_PASSWORD: 'addonPassword',
  REGEX_FILTER_ACCESS: 'regexFilterAccess',
  DISABLE_SELF_SCRAPING: 'disableSelfScraping',
  DEFAULT_MAX_CACHE_SIZE: 'maxCacheSize',
  DISABLE_RATE_LIMITS: 'disableRateLimits',
  LOG_SENSITIVE_INFO: 'logSensitiveInfo',
  ...buildServiceEnvironment(),
  PROVIDER_G_AUTH_BASE_URL: 'pikpakAuthUrl',
  PROVIDER_G_CLIENT_ID: 'pikpakClientId',
  PROVIDER_G_CLIENT_SECRET: 'pikpakClientSecret',
  METADATA_URL: 'metadataUrl',
  TMDB_URL: 'tmdbUrl',
  SEADEX_URL: 'seadexUrl',
  ANIME_MAPPING_URL: 'animeMappingUrl',
  ADDONS_ALLOW_PRIVATE_ADDRESSES: 'allowPrivateAddresses',
};
