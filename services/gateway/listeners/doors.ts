import type {
  CertificatePem,
  DispatchContext,
  ExternalListener,
  ExternalListenerOptions,
} from '../../contracts/dispatch.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';

/** A port on one address of the network. */
export interface Door {
  readonly kind: 'https' | 'http' | 'own' | 'tcp';
  readonly address: string;
  /** 0: any free one, which it keeps while it is open. */
  readonly port: number;
  /** The service whose own port it is; of `tcp` the port that is shared. */
  readonly service?: string;
}

interface Opened {
  readonly door: Door;
  readonly listener: ExternalListener;
}

interface DoorsParts {
  readonly listen: DispatchContext['listen'];
  readonly log: Log;
  readonly accepts: (remoteAddress: string, door: Door) => boolean;
  /** What answers at a door. */
  readonly handler: (door: Door) => ExternalListenerOptions['handler'];
}

/** Keeps those doors open that are wanted: those that stay are not touched, so that nothing that runs is cut off. */
export class Doors {
  readonly #parts: DoorsParts;
  readonly #open = new Map<string, Opened>();
  readonly #failed = new Map<string, string>();

  constructor(parts: DoorsParts) {
    this.#parts = parts;
  }

  /** Sentences on doors that could not be opened. */
  get problems(): readonly string[] {
    return [...new Set(this.#failed.values())];
  }

  /** The port of an open door. */
  port(kind: Door['kind'], address: string, service?: string): number | undefined {
    return this.#open.get(keyOf({ kind, address, port: 0, ...(service === undefined ? {} : { service }) }))?.listener
      .port;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Opens what is wanted and closes what is not; call it in turn. */
  async become(wanted: readonly Door[], certificate: CertificatePem | undefined): Promise<void> {
    const byKey = new Map(wanted.map((door) => [keyOf(door), door]));
    const leaving = [...this.#open].filter(([key, { door }]) => byKey.get(key)?.port !== door.port);
    for (const [key] of leaving) this.#open.delete(key);
    // Not waited for: a door that is closed takes nobody in, and what runs there ends by itself.
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

  async #try(key: string, door: Door, certificate: CertificatePem | undefined): Promise<void> {
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
      log.warn('a port for the network could not be opened', { address: door.address, port: door.port, error });
      const why = error instanceof Problem ? error.detail : String(error);
      this.#failed.set(key, `${door.address}: ${why}`);
    }
  }
}

function showsCertificate({ kind }: Door): boolean {
  return kind === 'https' || kind === 'own';
}

function keyOf({ kind, address, service = '' }: Door): string {
  return `${kind} ${address} ${service}`;
}
