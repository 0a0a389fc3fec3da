import { networkInterfaces } from 'node:os';
import type { Connect } from '../../contracts/outgoing.ts';
import type { MonitorConfig } from '../../contracts/uptime/monitor.ts';

const cacheMs = 5000;
const timeoutMs = 3000;

/** Detects whether this computer has a network. Without one, failures do not indicate faults of the targets. */
export class Connectivity {
  readonly #connect: Connect;
  readonly #address: () => string;
  readonly #now: () => number;
  #cached: { readonly until: number; readonly online: Promise<boolean> } | undefined;

  /**
   * @param address Returns the `host:port` of a service that is always reachable; empty to check only for an interface
   * with an address
   */
  constructor(connect: Connect, address: () => string, now: () => number) {
    this.#connect = connect;
    this.#address = address;
    this.#now = now;
  }

  /** Returns whether a failure can be attributed to the target. */
  async isOnline(config: MonitorConfig): Promise<boolean> {
    if (isLocal(config)) return true;
    const now = this.#now();
    if (this.#cached === undefined || this.#cached.until <= now)
      this.#cached = { until: now + cacheMs, online: this.#probe() };
    return this.#cached.online;
  }

  async #probe(): Promise<boolean> {
    const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    if (!interfaces.some(({ internal }) => !internal)) return false;
    const match = /^(.+):(\d+)$/.exec(this.#address());
    if (match === null) return true;
    try {
      const { socket } = await this.#connect({
        host: match[1] ?? '',
        port: Number(match[2]),
        trust: 'owner',
        timeoutMs,
      });
      socket.destroy();
      return true;
    } catch {
      return false;
    }
  }
}

/** Returns true for targets on this computer, which need no network. */
function isLocal({ type, url, hostname, docker_host: engine }: MonitorConfig): boolean {
  if (type === 'docker') return engine !== null;
  const host = (hostname ?? URL.parse(url ?? '')?.hostname ?? '').replace(/^\[|\]$/g, '');
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || host.startsWith('127.');
}
