import type { DispatchTarget } from '../contracts/dispatch.ts';
import type { Exposure, SharedService } from '../contracts/gateway/api.ts';
import { formatForUrl, getServiceName } from './domain/names.ts';
import type { ListenerManager } from './listeners/listener-manager.ts';

interface SharingContext {
  readonly label: string;
  /** Domain that leads to this computer, with a certificate that devices trust; empty without one. */
  readonly domain: string;
  /** Returns the first network address of this computer. */
  readonly address: string | undefined;
  readonly listeners: Pick<ListenerManager, 'port'>;
  readonly exposure: (id: string) => Exposure;
  /** Address of an external service; null for a service of Homeport. */
  readonly getExternalAddress: (id: string) => string | null;
}

/** Services that can be shared, with their network addresses. */
export function listSharedServices(
  targets: readonly DispatchTarget[],
  { label, domain, address, listeners, exposure, getExternalAddress }: SharingContext,
): SharedService[] {
  const https = address === undefined ? undefined : listeners.port('https', address);
  return targets.map(({ id, title, summary, port, authenticates }) => {
    const servicePort = address === undefined ? undefined : listeners.port('service', address, id);
    const isOpen = exposure(id) !== 'off' && address !== undefined;
    return {
      id,
      title,
      summary,
      authenticates,
      running: port !== undefined,
      exposure: exposure(id),
      outside: getExternalAddress(id),
      addresses: [
        ...(isOpen && https !== undefined && domain !== ''
          ? [{ by: 'domain' as const, url: `https://${id}.${domain}:${String(https)}` }]
          : []),
        // Addresses work on devices without multicast DNS.
        ...(isOpen && servicePort !== undefined
          ? [{ by: 'port' as const, url: `https://${formatForUrl(address)}:${String(servicePort)}` }]
          : []),
        ...(isOpen && https !== undefined
          ? [{ by: 'name' as const, url: `https://${getServiceName(id, label)}:${String(https)}` }]
          : []),
      ],
    };
  });
}
