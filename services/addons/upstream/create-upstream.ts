import type { Context } from '../../contracts/service.ts';
import { createCachedReleaseParser } from '../domain/release-cache.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import { addonVersion } from '../version.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { UpstreamClient } from './upstream.ts';

/** Release names recur within a season, so more of them are cached than responses. */
const releasesPerEntry = 5;

interface UpstreamCollaborators {
  readonly context: Context;
  readonly settings: Settings;
  readonly guardedFetch: GuardedFetch;
  readonly metrics: AddonMetrics;
}

/** Creates the client for addons. Settings are read by getters, because they can change while the service runs. */
export function createUpstream({ context, settings, guardedFetch, metrics }: UpstreamCollaborators): UpstreamClient {
  return new UpstreamClient({
    context,
    guardedFetch,
    metrics,
    readRelease: createCachedReleaseParser(() => settings.maxCacheSize * releasesPerEntry),
    get cacheSize() {
      return settings.maxCacheSize;
    },
    get streamCacheSeconds() {
      return settings.streamCacheSeconds;
    },
    userAgent: `Homeport/${addonVersion}`,
    get logAddresses() {
      return settings.logSensitiveInfo;
    },
  });
}
