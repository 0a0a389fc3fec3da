import { z } from 'zod';
import { debridServices, type DebridService, type ServiceId } from './domain/debrid-services.ts';

const webAddress = z.string().regex(/^$|^https?:\/\/[^\s?#]+$/, 'Use a web address without a query.');

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
          title: `${name}: ${credential.name}`,
          description: 'Default for configurations that do not set it.',
          ...(credential.type === 'password' ? { secret: true } : {}),
        });
    if (!hasApiKey(credentials))
      fields[`${id}ApiKey`] = z
        .string()
        .max(4096)
        .default('')
        .meta({
          live: true,
          title: `${name}: combined credentials`,
          description: `Alternative to the two fields above: ${credentials.map((field) => field.name.toLowerCase()).join(':')}.`,
          secret: true,
        });
    fields[`${id}Url`] = webAddress.default('').meta({
      title: `${name}: URL`,
      description: 'Base URL of the API. Leave empty to use the public API of the service.',
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
    title: 'Addon name',
    description: 'Name that players show for the addon. A configuration can override it.',
  }),
  addonId: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,100}$/, 'Use letters, digits, dots and - only.')
    .default('app.homeport.addons')
    .meta({ live: true, title: 'Addon ID', description: 'Identifies the addon in players.' }),
  baseUrl: webAddress.default('').meta({
    live: true,
    title: 'Public address',
    description: 'Address of this service in install links. Leave empty to use the address of the request.',
  }),
  secretKey: z
    .string()
    .max(1000)
    .default('')
    .meta({
      title: 'Secret key',
      description:
        'Key that encrypts the passwords in install links, 64 hexadecimal digits. Leave empty to use a ' +
        'generated key. Changing the key makes all install links invalid.',
      secret: true,
    }),
  addonPassword: z
    .string()
    .max(2000)
    .default('')
    .meta({
      live: true,
      title: 'Password for new configurations',
      description:
        'Required to create or change a configuration; players do not need it. Separate several passwords ' +
        'with commas. Leave empty to require none.',
      secret: true,
    }),
  regexFilterAccess: z
    .string()
    .max(500)
    .default('all')
    .meta({
      live: true,
      title: 'Regular expression access',
      description:
        'Configurations that can use regular expressions: all, none, trusted (those created on this page), ' +
        'or an expression that the configuration ID must match.',
    }),
  disableSelfScraping: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Refuse addons of this service',
      description:
        'Refuses other configurations of this service as upstream addons. A configuration can never ' +
        'contain itself.',
    }),
  allowPrivateAddresses: z.boolean().default(true).meta({
    live: true,
    title: 'Allow private addresses',
    description:
      'Allows addons on this computer and private networks. When off, only addons at public addresses are used.',
  }),
  maxAddons: z.int().min(1).max(200).default(30).meta({
    live: true,
    title: 'Maximum addons per configuration',
    description: 'Further addons of a configuration are ignored.',
  }),
  timeout: z.int().min(1000).max(50_000).default(7000).meta({
    live: true,
    unit: 'ms',
    title: 'Addon timeout',
    description:
      'Results of addons that do not respond within this time are left out. An addon can have its own timeout.',
  }),
  deadline: z.int().min(1000).max(60_000).default(9500).meta({
    live: true,
    unit: 'ms',
    title: 'Response deadline',
    description: 'The results available at this time are returned. Some players time out after 10 seconds.',
  }),
  maxCacheSize: z.int().min(1).max(1_000_000).default(1000).meta({
    live: true,
    title: 'Cache size',
    description: 'Maximum number of entries in each cache. The least recently used entries are removed first.',
  }),
  streamCacheSeconds: z.int().min(0).max(86_400).default(300).meta({
    live: true,
    unit: 'seconds',
    title: 'Stream cache duration',
    description:
      'Older results are returned immediately and refreshed in the background. Set to 0 to disable the cache.',
  }),
  disableRateLimits: z.boolean().default(false).meta({
    live: true,
    title: 'Disable rate limits',
    description: 'For tests, or when another server limits requests.',
  }),
  metadataUrl: webAddress.default('https://v3-cinemeta.strem.io').meta({
    emptyIsSet: true,
    title: 'Metadata addon',
    description:
      'Addon that provides title, year and age rating for filters and searches. Leave empty to disable ' +
      'these requests.',
  }),
  tmdbUrl: webAddress.default('https://api.themoviedb.org').meta({
    title: 'The Movie Database: URL',
    description: 'Provides release dates for configurations that hide unreleased titles and have an API key.',
  }),
  seadexUrl: webAddress.default('https://releases.moe').meta({
    emptyIsSet: true,
    title: 'SeaDex: URL',
    description:
      'Provides the best releases of an anime for configurations that use them. Leave empty to disable ' +
      'these requests.',
  }),
  animeMappingUrl: webAddress.default('https://api.ani.zip').meta({
    title: 'Anime ID mapping: URL',
    description: 'Maps Kitsu, MyAnimeList and AniDB IDs to AniList IDs for SeaDex.',
  }),
  logSensitiveInfo: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Log addon URLs',
      description:
        'Logs the full URLs of failing addons at log level debug. URLs often contain keys. When off, only ' +
        'host names are logged.',
    }),
  pikpakAuthUrl: webAddress.default('').meta({
    title: 'PikPak: sign-in URL',
    description: 'Leave empty to use the public sign-in API of the service.',
  }),
  pikpakClientId: z.string().max(200).default('').meta({
    title: 'PikPak: client ID',
    description: 'Client ID of the PikPak app that is used to sign in.',
  }),
  pikpakClientSecret: z.string().max(200).default('').meta({
    title: 'PikPak: client secret',
    description: 'Client secret of the PikPak app that is used to sign in.',
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
