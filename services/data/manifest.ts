import { defineManifest } from '../contracts/service.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Data platform: rows, users and sign-in over HTTP, compatible with clients of Supabase. */
export const manifest = defineManifest({
  id: 'data',
  title: 'Databases',
  group: 'data',
  summary: 'Keeps tables and users of your own apps in PostgreSQL. Works with supabase-js.',
  // Requests need an API key in a header, which forms and images of other origins cannot send.
  listeners: [
    { name: 'http', title: 'Databases', protocol: 'http', port: 54321, crossOrigin: 'any', authenticates: true },
  ],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'signUp', 'autoconfirm', 'siteUrl', 'smtpHost', 'schemas', 'maxRows', 'sleepAfterMinutes'],
  settingGroups: {
    'Sign-in': ['signUp', 'autoconfirm', 'siteUrl', 'smtpHost'],
    'API access': ['schemas', 'maxRows'],
    Idle: ['sleepAfterMinutes'],
    'Keys and tokens': ['jwtSecret', 'anonKey', 'serviceKey', 'jwtExpiry'],
    'User sign-in': ['anonymousSignIns', 'externalUrl', 'redirectUrls'],
    'Mail server': ['smtpPort', 'smtpUser', 'smtpPassword', 'smtpMode', 'smtpFrom', 'smtpName'],
    Requests: ['bodyMebibytes', 'batchSeconds', 'aggregates', 'plans'],
  },
  loadOnDemand,
  keys: { table: 'secrets' },
  migrations,
  excludedFromCopy: ['cluster'],
  stopMs: 20_000,
});
