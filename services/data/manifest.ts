import * as m from '#messages/data-settings';
import * as texts from '#messages/manifests';
import { defineManifest } from '../contracts/service.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Data platform: rows, users and sign-in over HTTP, compatible with clients of Supabase. */
export const manifest = defineManifest({
  id: 'data',
  title: texts.dataTitle,
  group: 'data',
  summary: texts.dataSummary,
  sharedSummary: texts.dataSharedSummary,
  // Requests need an API key in a header, which forms and images of other origins cannot send.
  listeners: [
    { name: 'http', title: texts.dataTitle, protocol: 'http', port: 54321, crossOrigin: 'any', authenticates: true },
  ],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'signUp', 'autoconfirm', 'siteUrl', 'smtpHost', 'schemas', 'maxRows', 'sleepAfterMinutes'],
  settingGroups: [
    { heading: m.groupSignIn, settings: ['signUp', 'autoconfirm', 'siteUrl', 'smtpHost'] },
    { heading: m.groupApiAccess, settings: ['schemas', 'maxRows'] },
    { heading: m.groupIdle, settings: ['sleepAfterMinutes'] },
    { heading: m.groupKeysAndTokens, settings: ['jwtSecret', 'anonKey', 'serviceKey', 'jwtExpiry'] },
    { heading: m.groupUserSignIn, settings: ['anonymousSignIns', 'externalUrl', 'redirectUrls'] },
    {
      heading: m.groupMailServer,
      settings: ['smtpPort', 'smtpUser', 'smtpPassword', 'smtpMode', 'smtpFrom', 'smtpName'],
    },
    { heading: m.groupRequests, settings: ['bodyMebibytes', 'batchSeconds', 'aggregates', 'plans'] },
  ],
  loadOnDemand,
  keys: { table: 'secrets' },
  migrations,
  excludedFromCopy: ['cluster'],
  stopMs: 20_000,
});
