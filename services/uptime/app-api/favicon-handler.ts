import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Context } from '../../contracts/service.ts';
import { uptimeApi } from '../../contracts/uptime/api.ts';
import type { Favicons } from '../favicons/favicons.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { Proxies } from '../store/proxies.ts';

/** Time after which the reply is sent without the icons of slow sites, which the next request then finds. */
const maxWaitMs = 4000;

export interface FaviconDependencies {
  readonly context: Pick<Context, 'clock' | 'log'>;
  readonly monitors: Pick<Monitors, 'find'>;
  readonly proxies: Pick<Proxies, 'find'>;
  readonly favicons: Favicons;
}

/** Returns the handler for icons of monitored websites. */
export function createFaviconHandler({
  context: { clock, log },
  monitors,
  proxies,
  favicons,
}: FaviconDependencies): ApiHandler {
  return implement(uptimeApi.favicons, async ({ query }) => {
    const icons: Record<string, string> = {};
    const searches = query.ids.split(',').map(async (id) => {
      const { url, proxyId = null } = monitors.find(Number(id))?.config ?? {};
      // Icons are requested directly. A site behind a proxy, such as Tor, must not learn the address of this computer.
      const isProxied = proxyId !== null && proxies.find(proxyId)?.active !== false;
      const icon = typeof url === 'string' && !isProxied ? await favicons.find(url) : undefined;
      if (icon !== undefined) icons[id] = icon;
    });
    const all = Promise.all(searches).catch((error: unknown) => log.warn('favicon search failed', { error }));
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    using _timer = clock.after(maxWaitMs, resolve);
    await Promise.race([all, timeout]);
    // Icons that are found later must not change the reply while it is serialized.
    return { ...icons };
  });
}
