import { uptimeApi } from '../../../../../services/contracts/uptime/api.ts';
import type { ServiceState } from '../../../../../services/contracts/control/api.ts';
import type { DockerHost, MonitorRow } from '../../../../../services/contracts/uptime/views.ts';
import { call } from '../../../api/call.ts';

/** Suggested monitor for a service or a container. */
export interface MonitorSuggestion {
  readonly key: string;
  readonly name: string;
  readonly about: string;
  /** ID of the service; undefined for a container. */
  readonly service?: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Suggests monitors for services without one, except for Uptime, which cannot report its own failure. */
export function suggestServices(
  list: readonly ServiceState[],
  rows: readonly MonitorRow[],
): readonly MonitorSuggestion[] {
  const monitoredTargets = new Set(rows.map(({ target }) => target.replace(/\/$/, '')));
  return list.flatMap(({ id, title, address }) => {
    const url = address === null || id === 'uptime' ? null : URL.parse(address);
    if (url === null || address === null) return [];
    const isWeb = /^https?:$/.test(url.protocol);
    if (monitoredTargets.has(isWeb ? address.replace(/\/$/, '') : url.host)) return [];
    // Most services answer with a sign-in, so that client errors count as up.
    const fields = isWeb
      ? { type: 'http', url: address, accepted_statuscodes: ['200-499'], ignoreTls: true }
      : { type: 'port', hostname: url.hostname, port: url.port };
    return [{ key: `service ${id}`, name: title, about: '', service: id, fields: { name: title, ...fields } }];
  });
}

/** Suggests monitors for containers without one. Engines that cannot be reached are skipped. */
export async function suggestContainers(
  hosts: readonly DockerHost[],
  rows: readonly MonitorRow[],
): Promise<readonly MonitorSuggestion[]> {
  const monitoredTargets = new Set(rows.filter(({ type }) => type === 'docker').map(({ target }) => target));
  const results = await Promise.allSettled(hosts.map((host) => call(uptimeApi.testDockerHost, { body: host })));
  return results.flatMap((result, index) => {
    const host = hosts[index];
    if (result.status === 'rejected' || host === undefined) return [];
    return result.value.containers
      .filter(({ name, id }) => !monitoredTargets.has(name) && !monitoredTargets.has(id))
      .map(({ name, image, state }) => ({
        key: `container ${String(host.id)} ${name}`,
        name,
        about: `${image} · ${state} · ${host.name}`,
        fields: { type: 'docker', name, docker_host: host.id, docker_container: name },
      }));
  });
}
