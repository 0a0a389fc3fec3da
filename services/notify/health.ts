import type { Health } from '../contracts/health.ts';
import { getKindTitle } from '../contracts/notify/kind-title.ts';
import { joinNames } from '../kit/join-names.ts';
import type { ConfigurationStore } from './store/configurations.ts';

/** Returns the health of the service. `failing`: kinds of the destinations that currently fail. */
export async function getHealth(
  waiting: number,
  failing: readonly string[],
  configurations: ConfigurationStore,
): Promise<Health> {
  const to = '/delivery';
  if (failing.length === 0) {
    const isNew = !(await configurations.hasUserConfiguration());
    const idle = isNew ? 'no destinations of your own yet' : 'all delivered';
    const detail = waiting === 0 ? idle : `${waiting} on their way`;
    return { state: 'up', detail, ...(isNew ? { begin: { label: 'Add a destination', to } } : {}) };
  }
  const remedy = { label: 'See the destinations', to };
  return { state: 'degraded', detail: `${formatFailing(failing)} not take messages, ${waiting} waiting`, remedy };
}

/**
 * Formats `Gotify does` or `Gotify and Home Assistant do`; several destinations of one kind are counted, because the
 * name would not distinguish them.
 */
function formatFailing(services: readonly string[]): string {
  if (services.length === 1) return `${joinNames(services.map(getKindTitle))} does`;
  const kinds = new Set(services);
  return kinds.size < services.length
    ? `${services.length} destinations do`
    : `${joinNames(services.map(getKindTitle))} do`;
}
