import type {
  CertificatePem,
  DispatchContext,
  ExternalListener,
  ExternalListenerOptions,
} from '../../contracts/dispatch.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';

/** Listener to open: a port of one network address. */
export interface NetworkListener {
  readonly kind: 'https' | 'http' | 'own' | 'tcp';
  readonly address: string;
  /** 0 selects a free port, which is kept while the listener is open. */
  readonly port: number;
  /** Service of the port; for `tcp` the shared port. */
  readonly service?: string;
}

interface Opened {
  readonly door: NetworkListener;
  readonly listener: ExternalListener;
}

interface DoorsParts {
  readonly listen: DispatchContext['listen'];
  readonly log: Log;
  readonly accepts: (remoteAddress: string, door: NetworkListener) => boolean;
  /** Handler of a listener. */
  readonly handler: (door: NetworkListener) => ExternalListenerOptions['handler'];
}

/** Opens and closes listeners as required. Unchanged listeners keep their connections. */
export class NetworkListeners {
  readonly #parts: DoorsParts;
  readonly #open = new Map<string, Opened>();
  readonly #failed = new Map<string, string>();

  constructor(parts: DoorsParts) {
    this.#parts = parts;
  }

  /** Messages about listeners that could not be opened. */
  get problems(): readonly string[] {
    return [...new Set(this.#failed.values())];
  }

  /** Returns the port of an open listener. */
  port(kind: NetworkListener['kind'], address: string, service?: string): number | undefined {
    return this.#open.get(buildKey({ kind, address, port: 0, ...(service === undefined ? {} : { service }) }))?.listener
      .port;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Opens missing listeners and closes others. Calls must not overlap. */
  async become(wanted: readonly NetworkListener[], certificate: CertificatePem | undefined): Promise<void> {
    const byKey = new Map(wanted.map((door) => [buildKey(door), door]));
    const leaving = [...this.#open].filter(([key, { door }]) => byKey.get(key)?.port !== door.port);
    for (const [key] of leaving) this.#open.delete(key);
    // Not awaited: a closed listener accepts no connections, and existing ones end on their own.
    for (const [, { listener }] of leaving) void listener.close();
    this.#failed.clear();
    await Promise.all(
      [...byKey].filter(([key]) => !this.#open.has(key)).map(([key, door]) => this.#try(key, door, certificate)),
    );
  }

  replaceCertificate(certificate: CertificatePem): void {
    for (const { door, listener } of this.#open.values())
      if (showsCertificate(door)) listener.replaceCertificate(certificate);
  }

  async #try(key: string, door: NetworkListener, certificate: CertificatePem | undefined): Promise<void> {
    const { listen, log, accepts, handler } = this.#parts;
    try {
      const listener = await listen({
        hosts: [door.address],
        port: door.port,
        accepts: (remoteAddress) => accepts(remoteAddress, door),
        handler: handler(door),
        ...(showsCertificate(door) && certificate !== undefined ? { certificate } : {}),
      });
      this.#open.set(key, { door, listener });
    } catch (error) {
      log.warn('network listener could not be opened', { address: door.address, port: door.port, error });
      const why = error instanceof Problem ? error.detail : String(error);
      this.#failed.set(key, `${door.address}: ${why}`);
    }
  }
}

function showsCertificate({ kind }: NetworkListener): boolean {
  return kind === 'https' || kind === 'own';
}

function buildKey({ kind, address, service = '' }: NetworkListener): string {
  return `${kind} ${address} ${service}`;
}
