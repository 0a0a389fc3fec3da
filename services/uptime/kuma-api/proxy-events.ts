import { ProxyFields } from '../../contracts/uptime/proxies.ts';
import { toRecord } from '../../contracts/is-record.ts';
import { removeProxy } from '../monitoring/proxy-removal.ts';
import type { UptimeStores } from '../store/stores.ts';
import { parseInput, toNumber, toTranslatedMessage, type SocketEvents, type SocketDependencies } from './events.ts';

/** Returns the calls for proxies. */
export function proxyEvents({ monitoring, stores: { proxies } }: SocketDependencies): SocketEvents {
  return {
    addProxy: {
      needs: 'write',
      async run(_session, input, id) {
        const { applyExisting, ...fields } = toRecord(input);
        const existingId = id === null || id === undefined ? undefined : toNumber(id);
        const stored = await proxies.put(parseInput(ProxyFields, fields), existingId);
        if (applyExisting === true) {
          for (const { id: monitorId } of monitoring.monitors.all())
            await monitoring.monitors.change(monitorId, { proxyId: stored.id }, { merge: true, lenient: true });
        }
        return { msg: 'Saved.', msgi18n: true, id: stored.id };
      },
    },
    deleteProxy: {
      needs: 'write',
      async run(_session, id) {
        await removeProxy(monitoring.monitors, proxies, toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
  };
}

/** Returns all proxies in the form of Uptime Kuma; without `withSecrets` their sign-in is left out. */
export function proxyList({ proxies }: Pick<UptimeStores, 'proxies'>, withSecrets: boolean): readonly object[] {
  return proxies.all().map(({ username, password, ...fields }) => ({
    ...fields,
    userId: 1,
    username: withSecrets ? (username ?? '') : null,
    password: withSecrets ? (password ?? '') : null,
  }));
}
