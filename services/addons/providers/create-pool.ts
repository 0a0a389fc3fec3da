import type { Context } from '../../contracts/service.ts';
import { debridService, type ServiceId } from '../domain/debrid-services.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import type { GuardedFetch } from '../upstream/guarded-fetch.ts';
import { PikPak } from './pikpak.ts';
import { ProviderPool } from './provider-pool.ts';

interface PoolCollaborators {
  readonly context: Context;
  readonly settings: Settings;
  readonly guardedFetch: GuardedFetch;
  readonly metrics: AddonMetrics;
}

/** Creates the accounts at debrid services, with the addresses of the settings. */
export function createPool({ context, settings, guardedFetch, metrics }: PoolCollaborators): ProviderPool {
  return new ProviderPool({
    context,
    guardedFetch,
    metrics,
    get cacheSize() {
      return settings.maxCacheSize;
    },
    baseUrl: (id) => getProviderUrl(id, settings),
    providerFactories: {
      pikpak: (httpClient, credentials) =>
        new PikPak(httpClient, credentials, {
          authUrl: settings.pikpakAuthUrl || 'https://user.mypikpak.com',
          clientId: settings.pikpakClientId,
          clientSecret: settings.pikpakClientSecret,
          now: () => context.clock.now(),
        }),
    },
  });
}

function getProviderUrl(id: ServiceId, settings: Settings): string {
  const configuredUrl = settings[`${id}Url`];
  return typeof configuredUrl === 'string' && configuredUrl !== '' ? configuredUrl : (debridService(id)?.baseUrl ?? '');
}
