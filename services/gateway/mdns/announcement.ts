import type { DispatchTarget } from '../../contracts/dispatch.ts';
import { getBaseName, getServiceName } from '../domain/names.ts';
import type { Announcement } from './responder.ts';

/** Announces shared services on the network. */
export function buildAnnouncement(
  shared: readonly DispatchTarget[],
  { label, addresses, port }: { readonly label: string; readonly addresses: readonly string[]; readonly port: number },
): Announcement {
  const hosts = shared.map(({ id, title }) => ({
    title: `${title} on ${label}`,
    host: getServiceName(id, label),
    port,
  }));
  return { addresses, names: [getBaseName(label), ...hosts.map(({ host }) => host)], services: hosts };
}
