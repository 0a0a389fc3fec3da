import { createServer, type AddressInfo, type Server } from 'node:net';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { findPortHolder, type PortHolder } from '../platform/port-holder.ts';

/** Thrown when the port is in use; code `listener.port_taken` (409). */
export class PortTaken extends Problem {
  readonly port: number;
  /** Port that was free on the same addresses a moment ago. */
  readonly suggestedPort: number | undefined;
  readonly holder: PortHolder | undefined;

  constructor(port: number, holder: PortHolder | undefined, suggestedPort: number | undefined, cause: unknown) {
    const by = holder === undefined ? 'another program' : holder.description;
    const offer = suggestedPort === undefined ? '' : ` Port ${suggestedPort} is free.`;
    super('listener.port_taken', 409, `Port ${port} is taken by ${by}.${offer}`, {
      cause,
      fields: { port: `Taken by ${by}.${offer}` },
      retryable: true,
    });
    this.port = port;
    this.holder = holder;
    this.suggestedPort = suggestedPort;
  }
}

export interface BindOptions {
  readonly hosts: readonly string[];
  /** 0: any port that is free on all hosts. */
  readonly port: number;
  /** Ports of other services, which must not be suggested. */
  readonly avoidPorts?: readonly number[];
  readonly log: Log;
}

const attemptsForAnyPort = 20;

/**
 * Listens on one port with one server per host; a host is skipped if the computer lacks its address family and
 * another one remains.
 * @throws PortTaken; Problem `listener.port_forbidden` (403), `listener.no_address` (500).
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
      throw code === undefined ? error : await explain(error, code, options);
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
  throw new Problem(
    'listener.no_address',
    500,
    `None of the addresses ${options.hosts.join(', ')} exists on this machine.`,
  );
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

async function explain(error: unknown, code: string, options: BindOptions): Promise<unknown> {
  const { port } = options;
  if (code === 'EADDRINUSE') {
    const [holder, free] = await Promise.all([findPortHolder(port), findFreePort(options)]);
    return new PortTaken(port, holder, free, error);
  }
  if (code !== 'EACCES' && code !== 'EPERM') return error;
  const detail =
    port < 1024
      ? `The system keeps port ${port} for administrators. Ports from 1024 on are free for everyone.`
      : `The system does not allow listening on port ${port}.`;
  return new Problem('listener.port_forbidden', 403, detail, { cause: error, fields: { port: detail } });
}

/** Returns the next free port above the requested one, which is easy to remember; else any free port. */
async function findFreePort({ hosts, port, avoidPorts = [] }: BindOptions): Promise<number | undefined> {
  for (let candidate = port + 1; candidate <= Math.min(65_535, port + 100); candidate += 1) {
    if (!avoidPorts.includes(candidate) && (await isFree(candidate, hosts))) return candidate;
  }
  return undefined;
}

async function isFree(port: number, hosts: readonly string[]): Promise<boolean> {
  for (const host of hosts) {
    const server = createServer();
    const code = await new Promise<string | undefined>((resolve) => {
      server.once('error', (error) => resolve(getErrorCode(error) ?? 'unknown'));
      server.listen({ host, port, ipv6Only: host.includes(':') }, () => resolve(undefined));
    });
    if (code === undefined) await new Promise((resolve) => server.close(resolve));
    if (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EPERM') return false;
  }
  return true;
}

function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
