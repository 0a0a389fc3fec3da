import { defineManifest } from '../contracts/service.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Manifest of the addon aggregator, which combines several Stremio addons and requests debrid services locally. */
export const manifest = defineManifest({
  id: 'addons',
  title: 'Streaming',
  group: 'media',
  summary: 'Makes one Stremio addon of many, asks debrid services what they have, and keeps keys at home.',
  // Players run in browsers and apps of any origin. Private addresses contain a credential.
  listeners: [
    { name: 'http', title: 'Streaming', protocol: 'http', port: 3000, crossOrigin: 'any', authenticates: true },
  ],
  grantable: [{ service: 'addons', title: 'Streaming', example: '*' }],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'addonName', 'baseUrl', 'addonPassword', 'allowPrivateAddresses', 'maxAddons'],
  settingGroups: {
    Addon: ['addonName', 'baseUrl'],
    Configurations: ['addonPassword', 'allowPrivateAddresses', 'maxAddons'],
    'Upstream addons': ['timeout', 'deadline', 'disableSelfScraping', 'regexFilterAccess', 'logSensitiveInfo'],
    Cache: ['maxCacheSize', 'streamCacheSeconds'],
    Metadata: ['metadataUrl', 'tmdbUrl', 'seadexUrl', 'animeMappingUrl'],
  },
  loadOnDemand,
  keys: { table: 'secrets' },
  migrations,
  pulse: { counter: 'addons_requests_total', labels: { resource: 'stream' }, what: 'opened titles' },
});
