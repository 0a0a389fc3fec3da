import type { DispatchTarget } from '../../contracts/dispatch.ts';
import { baseName, serviceName } from '../domain/names.ts';
import type { Announcing } from './responder.ts';

/** Announces shared services on the network. */
export function announcing(
  shared: readonly DispatchTarget[],
  { label, addresses, port }: { readonly label: string; readonly addresses: readonly string[]; readonly port: number },
): Announcing {
  const hosts = shared.map(({ id, title }) => ({
    title: `${title} on ${label}`,
    host: serviceName(id, label),
    port,
  }));
  return { addresses, names: [baseName(label), ...hosts.map(({ host }) => host)], services: hosts };
}
