import { api, inbox } from '../support/api.ts';
import type { TestHost } from '../support/host.ts';

/** Returns one detail page of each service, with the name of its screenshot. */
export async function getDetailPages(host: TestHost): Promise<readonly (readonly [name: string, path: string])[]> {
  const ask = <T>(path: string): Promise<T> => api<T>(host.url('control'), `/api${path}`);
  const [{ items: monitors }, { tasks }, { profiles }, rows] = await Promise.all([
    ask<{ items: { id: number; name: string }[] }>('/uptime/monitors'),
    ask<{ tasks: { id: number; name: string }[] }>('/sync'),
    ask<{ profiles: { uuid: string; name: string }[] }>('/addons/profiles'),
    inbox(host.url('control')),
  ]);
  const getByPrefix = <T extends { readonly name: string }>(list: readonly T[], prefix: string): T => {
    const item = list.find(({ name }) => name.startsWith(prefix));
    if (item === undefined) throw new Error(`the household has no ${prefix}`);
    return item;
  };
  const message = rows.find(({ title }) => title === 'Updates are ready');
  return [
    ['message', `/inbox/messages/${String(message?.id)}`],
    ['topic', '/push/topics/nas-info-backup'],
    ['destinations', '/delivery/keys/house'],
    ['monitor', `/uptime/monitors/${String(getByPrefix(monitors, 'Papers').id)}`],
    ['saved-sync', `/sync/syncs/${String(getByPrefix(tasks, 'Photos').id)}`],
    ['repository', '/git/repositories/ada~lamp'],
    ['pull-request', '/git/repositories/ada~lamp?show=pulls&number=5'],
    ['table', '/data/tables/public.plants/'],
    ['schema', '/data/schema'],
    ['configuration', `/addons/configurations/${getByPrefix(profiles, 'Living room').uuid}`],
    ['downloads-statistics', '/downloads/statistics'],
  ];
}
