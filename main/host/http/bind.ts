import * as m from '#messages/host-problems';
import type { AddressInfo, Server } from 'node:net';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { createWildcardCheck } from '../platform/wildcard-ports.ts';
import { explainBindError, getErrorCode } from './port-unavailable.ts';

export interface BindOptions {
  readonly hosts: readonly string[];
  /** 0: any port that is free on all hosts. */
  readonly port: number;
  /** Ports of other services, which must not be suggested. */
  readonly avoidPorts?: readonly number[];
  readonly log: Log;
  readonly platform?: NodeJS.Platform;
}

const attemptsForAnyPort = 20;

/**
 * Listens on one port with one server per host; a host is skipped if the computer lacks its address family and
 * another one remains.
 * @throws PortTaken (409); PortForbidden (403); Problem `listener.no_address` (500).
 */
export async function bindAll<S extends Server>(
  make: () => S,
  options: BindOptions,
): Promise<{ servers: S[]; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await bindOnce(make, options);
    } catch (error) {
      const code = getErrorCode(error);
      // Free on the first address family but taken on the second: try another port.
      if (code === 'EADDRINUSE' && options.port === 0 && attempt < attemptsForAnyPort) continue;
      throw code === undefined ? error : await explainBindError(error, code, options);
    }
  }
}

async function bindOnce<S extends Server>(
  make: () => S,
  options: BindOptions,
): Promise<{ servers: S[]; port: number }> {
  const servers: S[] = [];
  let { port } = options;
  try {
    await refuseWildcardListener(options);
    for (const host of options.hosts) {
      const server = make();
      if (await listen(server, host, port, options)) {
        servers.push(server);
        port = (server.address() as AddressInfo).port;
      }
    }
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  if (servers.length > 0) return { servers, port };
  throw new Problem('listener.no_address', 500, () => m.addressesMissing({ addresses: options.hosts.join(', ') }));
}

/** Throws EADDRINUSE when another program has the port on all addresses, also where the system would permit both. */
async function refuseWildcardListener({ hosts, port, platform = currentPlatform }: BindOptions): Promise<void> {
  if (port === 0 || !hosts.some((host) => host === '127.0.0.1' || host === '::1')) return;
  const isTaken = await createWildcardCheck(platform);
  if (!(await isTaken(port))) return;
  throw Object.assign(new Error(`Port ${port} is in use on all addresses.`), { code: 'EADDRINUSE' });
}

/** Returns false when this computer does not have the address. */
async function listen(server: Server, host: string, port: number, { hosts, log }: BindOptions): Promise<boolean> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, ipv6Only: host.includes(':'), backlog: 1024 }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    return true;
  } catch (error) {
    const code = getErrorCode(error);
    if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT' && code !== 'ENOTFOUND') throw error;
    const remainingHosts = hosts.length > 1 ? 'the others are used' : 'there is no other';
    log.debug('listener address skipped', { host, code, rest: remainingHosts });
    return false;
  }
}
