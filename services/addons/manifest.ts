import * as m from '#messages/addons-settings';
import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
import { defineManifest } from '../contracts/service.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Manifest of the addon aggregator, which combines several Stremio addons and requests debrid services locally. */
export const manifest = defineManifest({
  id: 'addons',
  title: texts.addonsTitle,
  group: 'media',
  summary: texts.addonsSummary,
  sharedSummary: texts.addonsSharedSummary,
  // Players run in browsers and apps of any origin. Private addresses contain a credential.
  listeners: [
    { name: 'http', title: texts.addonsTitle, protocol: 'http', port: 3000, crossOrigin: 'any', authenticates: true },
  ],
  grantable: [{ service: 'addons', title: texts.addonsTitle, example: '*' }],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'addonName', 'baseUrl', 'addonPassword', 'allowPrivateAddresses', 'maxAddons'],
  settingGroups: [
    { heading: m.groupAddon, settings: ['addonName', 'baseUrl'] },
    { heading: m.groupConfigurations, settings: ['addonPassword', 'allowPrivateAddresses', 'maxAddons'] },
    {
      heading: m.groupUpstreamAddons,
      settings: ['timeout', 'deadline', 'disableSelfScraping', 'regexFilterAccess', 'logSensitiveInfo'],
    },
    { heading: m.groupCache, settings: ['maxCacheSize', 'streamCacheSeconds'] },
    { heading: m.groupMetadata, settings: ['metadataUrl', 'tmdbUrl', 'seadexUrl', 'animeMappingUrl'] },
  ],
  loadOnDemand,
  keys: { table: 'secrets' },
  migrations,
  pulse: { counter: 'addons_requests_total', labels: { resource: 'stream' }, total: parts.openedTitlesInDay },
});
