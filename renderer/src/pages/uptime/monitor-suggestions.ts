import { uptimeApi } from '../../../../services/contracts/uptime/api.ts';
import type { ServiceState } from '../../../../services/contracts/control/api.ts';
import type { DockerHost, MonitorRow } from '../../../../services/contracts/uptime/views.ts';
import { call } from '../../api/call.ts';

/** Something that could be watched, and the monitor that would do it. */
export interface Offer {
  readonly key: string;
  readonly name: string;
  readonly about: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Homeport's own services that nothing watches yet; Uptime itself could not tell of its own end. */
export function serviceOffers(list: readonly ServiceState[], rows: readonly MonitorRow[]): readonly Offer[] {
  const watched = new Set(rows.map(({ target }) => target.replace(/\/$/, '')));
  return list.flatMap(({ id, title, address }) => {
    const url = address === null || id === 'uptime' ? null : URL.parse(address);
    if (url === null || address === null) return [];
    const isWeb = /^https?:$/.test(url.protocol);
    if (watched.has(isWeb ? address.replace(/\/$/, '') : url.host)) return [];
    // Anything that it answers by itself is fine: most ask for a sign-in.
    const fields = isWeb
      ? { type: 'http', url: address, accepted_statuscodes: ['200-499'], ignoreTls: true }
      : { type: 'port', hostname: url.hostname, port: url.port };
    return [{ key: `service ${id}`, name: title, about: '', fields: { name: title, ...fields } }];
  });
}

/** Containers of the engines that are set up, as far as nothing watches them; an engine that is away offers none. */
export async function containerOffers(
  hosts: readonly DockerHost[],
  rows: readonly MonitorRow[],
): Promise<readonly Offer[]> {
  const watched = new Set(rows.filter(({ type }) => type === 'docker').map(({ target }) => target));
  const found = await Promise.allSettled(hosts.map((host) => call(uptimeApi.testDockerHost, { body: host })));
  return found.flatMap((one, at) => {
    const host = hosts[at];
    if (one.status === 'rejected' || host === undefined) return [];
    return one.value.containers
      .filter(({ name, id }) => !watched.has(name) && !watched.has(id))
      .map(({ name, image, state }) => ({
        key: `container ${String(host.id)} ${name}`,
        name,
        about: `${image} · ${state} · ${host.name}`,
        fields: { type: 'docker', name, docker_host: host.id, docker_container: name },
      }));
  });
}
