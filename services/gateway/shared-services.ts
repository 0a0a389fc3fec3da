import type { DispatchTarget } from '../contracts/dispatch.ts';
import type { Exposure, SharedService } from '../contracts/gateway/api.ts';
import { inUrl, serviceName } from './domain/names.ts';
import type { Doors } from './listeners/doors.ts';

interface Shown {
  readonly label: string;
  /** The first address of this machine on its networks. */
  readonly address: string | undefined;
  readonly doors: Pick<Doors, 'port'>;
  readonly exposure: (id: string) => Exposure;
  /** The address that the owner typed; null for a service of the house. */
  readonly outside: (id: string) => string | null;
}

/** What may be shared, with where other machines reach it. */
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
        // Not every device asks for names, but each finds an address.
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
