import * as m from '#messages/notify-texts';
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
    const idle = isNew ? m.noDestinations : m.allDelivered;
    const detail = waiting === 0 ? idle : () => m.deliveriesWaiting({ count: waiting });
    return { state: 'up', detail, ...(isNew ? { begin: { label: m.addDestination, to } } : {}) };
  }
  const remedy = { label: m.viewDestinations, to };
  return { state: 'degraded', detail: () => formatFailing(failing, waiting), remedy };
}

/** Names the failing kinds. Several destinations of one kind are counted, because the name would not distinguish them. */
function formatFailing(services: readonly string[], waiting: number): string {
  const names = joinNames(services.map(getKindTitle));
  if (services.length === 1) return m.destinationFailing({ name: names, waiting });
  return new Set(services).size < services.length
    ? m.countFailing({ count: services.length, waiting })
    : m.destinationsFailing({ names, waiting });
}
