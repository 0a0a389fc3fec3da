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
          description: 'Used where a configuration has none of its own.',
          ...(credential.type === 'password' ? { secret: true } : {}),
        });
    if (!hasApiKey(credentials))
      fields[`${id}ApiKey`] = z
        .string()
        .max(4096)
        .default('')
        .meta({
          live: true,
          title: `${name}: both as one text`,
          description: `In place of the two above: ${credentials.map((field) => field.name.toLowerCase()).join(':')}.`,
          secret: true,
        });
    fields[`${id}Url`] = webAddress
      .default('')
      .meta({ title: `${name}: address`, description: 'Of its API. Empty: the service’s own.' });
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
    title: 'Name of the addon',
    description: 'As players list it. A configuration may have a name of its own.',
  }),
  addonId: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,100}$/, 'Use letters, digits, dots and - only.')
    .default('app.homeport.addons')
    .meta({ live: true, title: 'Id of the addon', description: 'Part of what players tell addons apart by.' }),
  baseUrl: webAddress.default('').meta({
    live: true,
    title: 'Public address',
    description: 'Where players reach this service, for install links. Empty: the address they asked at.',
  }),
  secretKey: z
    .string()
    .max(1000)
    .default('')
    .meta({
      title: 'Secret key',
      description:
        '64 hexadecimal digits that seal the passwords in install links. Empty: one is made and kept in the vault. ' +
        'Another key makes all install links invalid.',
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
        'Required to create or change a configuration; players never need it. Several passwords are separated by commas, ' +
        'and each of them works. Leave empty to require none.',
      secret: true,
    }),
  regexFilterAccess: z.string().max(500).default('all').meta({
    live: true,
    title: 'Who may use regular expressions',
    description:
      'all, none, trusted (those made on this page), or an expression that ids of configurations must match.',
  }),
  disableSelfScraping: z.boolean().default(false).meta({
    live: true,
    title: 'Refuse own addresses',
    description: 'Refuses other configurations of this service as addons, too. A configuration never contains itself.',
  }),
  allowPrivateAddresses: z.boolean().default(true).meta({
    live: true,
    title: 'Addons on this machine and network',
    description: 'Off: only addons on public addresses are asked.',
  }),
  maxAddons: z.int().min(1).max(200).default(30).meta({
    live: true,
    title: 'Addons per configuration, at most',
    description: 'What a configuration has beyond them is not asked.',
  }),
  timeout: z.int().min(1000).max(50_000).default(7000).meta({
    live: true,
    unit: 'ms',
    title: 'Patience with an addon',
    description: 'What has not answered by then is left out. An addon may have a time of its own.',
  }),
  deadline: z.int().min(1000).max(60_000).default(9500).meta({
    live: true,
    unit: 'ms',
    title: 'Answer at the latest after',
    description: 'With what is there by then. Some players give up after 10 seconds.',
  }),
  maxCacheSize: z.int().min(1).max(1_000_000).default(1000).meta({
    live: true,
    title: 'Answers to remember',
    description: 'Entries of each cache. What was not used longest is forgotten first.',
  }),
  streamCacheSeconds: z.int().min(0).max(86_400).default(300).meta({
    live: true,
    unit: 'seconds',
    title: 'Streams stay fresh for',
    description: 'An older answer is shown at once and asked for again. 0: nothing is remembered.',
  }),
  disableRateLimits: z.boolean().default(false).meta({
    live: true,
    title: 'No limits on requests',
    description: 'For tests, and where another server limits them.',
  }),
  metadataUrl: webAddress.default('https://v3-cinemeta.strem.io').meta({
    emptyIsSet: true,
    title: 'Addon for titles',
    description: 'Asked for title, year and age rating where a filter or a search needs them. Empty: nobody is asked.',
  }),
  tmdbUrl: webAddress.default('https://api.themoviedb.org').meta({
    title: 'The Movie Database: address',
    description: 'Asked for release dates where a configuration hides what is not out yet and has a key.',
  }),
  seadexUrl: webAddress.default('https://releases.moe').meta({
    emptyIsSet: true,
    title: 'SeaDex: address',
    description: 'Asked which releases of an anime are the best, where a configuration wants to know. Empty: never.',
  }),
  animeMappingUrl: webAddress.default('https://api.ani.zip').meta({
    title: 'Ids of anime: address',
    description: 'Asked which anime at AniList an id of Kitsu, MyAnimeList or AniDB is, for SeaDex.',
  }),
  logSensitiveInfo: z.boolean().default(false).meta({
    live: true,
    title: 'Log addresses of addons',
    description: 'Of those that fail, at the level debug; they often hold keys. Off: the log names their hosts alone.',
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
