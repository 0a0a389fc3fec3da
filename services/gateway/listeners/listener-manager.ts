import * as m from '#messages/gateway-problems';
import type {
  ListenerCertificate,
  DispatchContext,
  ExternalListener,
  ExternalListenerOptions,
} from '../../contracts/dispatch.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';
import { readText, type Text } from '../../contracts/text.ts';

/** Listener to open: a port of one network address. */
export interface NetworkListener {
  readonly kind: 'https' | 'http' | 'service' | 'tcp';
  readonly address: string;
  /** 0 selects a free port, which is kept while the listener is open. */
  readonly port: number;
  /** Service of the port; for `tcp` the shared port. */
  readonly service?: string;
}

interface OpenListener {
  readonly options: NetworkListener;
  readonly listener: ExternalListener;
}

interface ListenerDependencies {
  readonly listen: DispatchContext['listen'];
  readonly log: Log;
  readonly accepts: (remoteAddress: string, options: NetworkListener) => boolean;
  /** Handler of a listener. */
  readonly handler: (options: NetworkListener) => ExternalListenerOptions['handler'];
}

/** Opens and closes listeners as required. Unchanged listeners keep their connections. */
export class ListenerManager {
  readonly #deps: ListenerDependencies;
  readonly #listeners = new Map<string, OpenListener>();
  readonly #failures = new Map<string, Text>();

  constructor(deps: ListenerDependencies) {
    this.#deps = deps;
  }

  /** Messages about listeners that could not be opened. */
  get problems(): readonly Text[] {
    return [...this.#failures.values()];
  }

  /** Returns the port of an open listener. */
  port(kind: NetworkListener['kind'], address: string, service?: string): number | undefined {
    return this.#listeners.get(buildKey({ kind, address, port: 0, ...(service === undefined ? {} : { service }) }))
      ?.listener.port;
  }

  get isOpen(): boolean {
    return this.#listeners.size > 0;
  }

  /** Opens missing listeners and closes others. Calls must not overlap. */
  async update(listeners: readonly NetworkListener[], certificate: ListenerCertificate | undefined): Promise<void> {
    const byKey = new Map(listeners.map((options) => [buildKey(options), options]));
    const obsolete = [...this.#listeners].filter(([key, { options }]) => byKey.get(key)?.port !== options.port);
    for (const [key] of obsolete) this.#listeners.delete(key);
    // Not awaited: a closed listener accepts no connections, and existing ones end on their own.
    for (const [, { listener }] of obsolete) void listener.close();
    this.#failures.clear();
    await Promise.all(
      [...byKey]
        .filter(([key]) => !this.#listeners.has(key))
        .map(([key, options]) => this.#openListener(key, options, certificate)),
    );
  }

  replaceCertificate(certificate: ListenerCertificate): void {
    for (const { options, listener } of this.#listeners.values())
      if (usesTls(options)) listener.replaceCertificate(certificate);
  }

  async #openListener(
    key: string,
    options: NetworkListener,
    certificate: ListenerCertificate | undefined,
  ): Promise<void> {
    const { listen, log, accepts, handler } = this.#deps;
    try {
      const listener = await listen({
        hosts: [options.address],
        port: options.port,
        accepts: (remoteAddress) => accepts(remoteAddress, options),
        handler: handler(options),
        ...(usesTls(options) && certificate !== undefined ? { certificate } : {}),
      });
      this.#listeners.set(key, { options, listener });
    } catch (error) {
      log.warn('network listener could not be opened', { address: options.address, port: options.port, error });
      const reason = error instanceof Problem ? error.text : String(error);
      this.#failures.set(key, () => m.listenerFailed({ address: options.address, reason: readText(reason) }));
    }
  }
}

function usesTls({ kind }: NetworkListener): boolean {
  return kind === 'https' || kind === 'service';
}

function buildKey({ kind, address, service = '' }: NetworkListener): string {
  return `${kind} ${address} ${service}`;
}
