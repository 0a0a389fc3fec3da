import type { DispatchTarget } from '../contracts/dispatch.ts';
import type { Exposure, SharedService } from '../contracts/gateway/api.ts';
import { inUrl, serviceName } from './domain/names.ts';
import type { NetworkListeners } from './listeners/listener-manager.ts';

interface Shown {
  readonly label: string;
  /** Returns the first network address of this computer. */
  readonly address: string | undefined;
  readonly doors: Pick<NetworkListeners, 'port'>;
  readonly exposure: (id: string) => Exposure;
  /** Address of an external service; null for a service of Homeport. */
  readonly outside: (id: string) => string | null;
}

/** Services that can be shared, with their network addresses. */
export function sharedServices(
  targets: readonly DispatchTarget[],
  { label, address, doors, exposure, outside }: Shown,
): SharedService[] {
  const https = address === undefined ? undefined : doors.port('https', address);
  return targets.map(({ id, title, summary, port, authenticates }) => {
    const own = address === undefined ? undefined : doors.port('own', address, id);
    const isOpen = exposure(id) !== 'off' && address !== undefined;
    return {
      ...{ id, title, summary, authenticates, running: port !== undefined },
      ...{ exposure: exposure(id), outside: outside(id) },
      addresses: [
        // Addresses work on devices without multicast DNS.
        ...(isOpen && own !== undefined
          ? [{ by: 'port' as const, url: `https://${inUrl(address)}:${String(own)}` }]
          : []),
        ...(isOpen && https !== undefined
          ? [{ by: 'name' as const, url: `https://${serviceName(id, label)}:${String(https)}` }]
          : []),
      ],
    };
  });
}
