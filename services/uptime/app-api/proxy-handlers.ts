import { implement, type ApiHandler } from '../../contracts/api.ts';
import { proxiesApi } from '../../contracts/uptime/proxies.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import { removeProxy } from '../monitoring/proxy-removal.ts';
import { toProxyView, type Proxies } from '../store/proxies.ts';
import { parseId } from './monitor-handlers.ts';

/** Returns the handlers of the proxies of monitors. */
export function createProxyHandlers(monitors: Monitors, proxies: Proxies): readonly ApiHandler[] {
  return [
    implement(proxiesApi.list, () => ({ items: proxies.all().map(toProxyView) })),
    implement(proxiesApi.add, async ({ body }) => toProxyView(await proxies.put(body))),
    implement(proxiesApi.replace, async ({ params, body }) => toProxyView(await proxies.put(body, parseId(params)))),
    implement(proxiesApi.remove, async ({ params }) => {
      await removeProxy(monitors, proxies, parseId(params));
      return { ok: true as const };
    }),
  ];
}
