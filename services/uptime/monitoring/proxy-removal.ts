import type { Proxies } from '../store/proxies.ts';
import type { Monitors } from './monitors.ts';

/**
 * Removes a proxy. Its monitors are checked directly from then on, as in Uptime Kuma.
 * @throws Problem `uptime.unknown_proxy` (404)
 */
export async function removeProxy(monitors: Monitors, proxies: Proxies, id: number): Promise<void> {
  await proxies.remove(id);
  for (const monitor of monitors.all()) {
    if (monitor.config.proxyId === id)
      await monitors.change(monitor.id, { proxyId: null }, { merge: true, lenient: true });
  }
}
