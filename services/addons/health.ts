import * as t from '#messages/addons-texts';
import type { Health } from '../contracts/health.ts';
import { debridService } from './domain/debrid-services.ts';
import type { Profiles } from './profiles/profiles.ts';
import type { ProviderPool } from './providers/provider-pool.ts';
import { loadOnDemand } from './load-on-demand.ts';

/** Returns the health of the service: services that do not answer, or the number of configurations. */
export async function getHealth(pool: ProviderPool, profiles: Profiles): Promise<Health> {
  const unavailableServices = pool.health.list().filter(({ disabledUntil }) => disabledUntil !== undefined);
  const names = unavailableServices.map(({ id }) => debridService(id)?.name ?? id).join(', ');
  if (names !== '')
    return {
      state: 'degraded',
      detail: () => t.servicesUnavailable({ count: unavailableServices.length, names }),
      remedy: { label: t.viewServices, to: '/addons/services' },
    };
  const count = await profiles.count();
  if (count === 0) return loadOnDemand.health;
  return { state: 'up', detail: () => t.configurations({ count }) };
}
