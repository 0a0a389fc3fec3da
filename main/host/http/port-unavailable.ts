import * as m from '#messages/host-problems';
import { createServer } from 'node:net';
import { Problem, type ProblemOptions } from '../../../services/contracts/problem.ts';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { findPortHolder, type PortHolder } from '../platform/port-holder.ts';
import { findRange, listReservedPorts, type PortRange } from '../platform/reserved-ports.ts';
import { createWildcardCheck } from '../platform/wildcard-ports.ts';

/** Number of ports above the requested one that are tried for a suggestion. */
const maxCandidates = 100;

/** Thrown when a listener cannot have its port. */
export class PortUnavailable extends Problem {
  readonly port: number;
  /** Port that was free on the same addresses a moment ago. */
  readonly suggestedPort: number | undefined;

  constructor(code: string, status: number, { reason, port, suggestedPort, ...options }: PortUnavailableOptions) {
    const detail = (): string =>
      suggestedPort === undefined ? reason() : m.portSuggestion({ reason: reason(), port: String(suggestedPort) });
    super(code, status, detail, { ...options, fields: { port: detail() } });
    this.port = port;
    this.suggestedPort = suggestedPort;
  }
}

interface PortUnavailableOptions extends ProblemOptions {
  /** Returns the sentence that names the port. */
  readonly reason: () => string;
  readonly port: number;
  readonly suggestedPort: number | undefined;
}

/** Thrown when the port is in use; code `listener.port_taken` (409). */
export class PortTaken extends PortUnavailable {
  readonly holder: PortHolder | undefined;

  constructor(port: number, holder: PortHolder | undefined, suggestedPort: number | undefined, cause: unknown) {
    super('listener.port_taken', 409, {
      reason: () => formatPortTaken(port, holder),
      port,
      suggestedPort,
      cause,
      retryable: true,
    });
    this.holder = holder;
  }
}

function formatPortTaken(portNumber: number, holder: PortHolder | undefined): string {
  const port = String(portNumber);
  if (holder === undefined) return m.portTaken({ port });
  const { pid, name } = holder;
  if (pid === undefined) return m.portTakenByOtherUser({ port });
  return name === undefined
    ? m.portTakenByProcess({ port, pid: String(pid) })
    : m.portTakenByProgram({ port, program: name, pid: String(pid) });
}

/** Thrown when the system does not allow the port; code `listener.port_forbidden` (403). */
export class PortForbidden extends PortUnavailable {
  constructor(port: number, reason: () => string, suggestedPort: number | undefined, cause: unknown) {
    super('listener.port_forbidden', 403, { reason, port, suggestedPort, cause });
  }
}

/** Listener that failed. */
interface FailedBind {
  readonly hosts: readonly string[];
  readonly port: number;
  /** Ports of other services, which must not be suggested. */
  readonly avoidPorts?: readonly number[];
  readonly platform?: NodeJS.Platform;
}

/** Returns the error of a listener with its reason and a free port, or the error itself for other codes. */
export async function explainBindError(error: unknown, code: string, failed: FailedBind): Promise<unknown> {
  const { port, platform = currentPlatform } = failed;
  if (code === 'EADDRINUSE') {
    const [holder, free] = await Promise.all([findPortHolder(port, platform), findFreePort(failed)]);
    return new PortTaken(port, holder, free, error);
  }
  if (code !== 'EACCES' && code !== 'EPERM') return error;
  if (platform === 'win32') return explainRefusalOnWindows(error, failed);
  const detail = (): string =>
    port < 1024 ? m.portForAdministrators({ port: String(port) }) : m.portForbidden({ port: String(port) });
  return new PortForbidden(port, detail, undefined, error);
}

/** Windows refuses ports that it reserves, and ports that another program uses exclusively. */
async function explainRefusalOnWindows(error: unknown, failed: FailedBind): Promise<PortUnavailable> {
  const { port } = failed;
  const reserved = await listReservedPorts('win32');
  const free = await findFreePort(failed, reserved);
  if (findRange(reserved, port) !== undefined) {
    return new PortForbidden(port, () => m.portReservedByWindows({ port: String(port) }), free, error);
  }
  const holder = await findPortHolder(port, 'win32');
  if (holder !== undefined) return new PortTaken(port, holder, free, error);
  return new PortForbidden(port, () => m.portForbiddenByWindows({ port: String(port) }), free, error);
}

/** Returns the next free port above the requested one, which is easy to remember; undefined without one nearby. */
async function findFreePort(
  { hosts, port, avoidPorts = [], platform = currentPlatform }: FailedBind,
  reserved: readonly PortRange[] = [],
): Promise<number | undefined> {
  const isTaken = await createWildcardCheck(platform);
  let candidate = port;
  for (let count = 1; count <= maxCandidates; count += 1) {
    candidate += 1;
    // Ranges follow one another directly.
    for (let range = findRange(reserved, candidate); range !== undefined; range = findRange(reserved, candidate)) {
      candidate = range.last + 1;
    }
    if (candidate > 65_535) return undefined;
    if (!avoidPorts.includes(candidate) && !(await isTaken(candidate)) && (await isFree(candidate, hosts)))
      return candidate;
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

/** Returns the code of a system error. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
