import type { Hosts } from '../../../services/contracts/hosts.ts';
import type { ExternalListener, ExternalListenerOptions } from '../../../services/contracts/dispatch.ts';
import type { ListenerHandler } from '../../../services/contracts/listeners.ts';
import type { GuardPolicy } from '../http/guard.ts';
import { openListener, type Listener } from '../http/listener.ts';
import { createPublicHostResolver } from '../http/proxies.ts';
import type { ListenerEnvironment } from './host-parts.ts';

/** Listeners for other computers that a service opens while it runs. */
export interface ExternalListeners {
  open(options: ExternalListenerOptions): Promise<ExternalListener>;
  /** Applies the current host names. */
  renewGuard(): void;
  /** See {@link Listener.running}; sum over all listeners. */
  running(begunBefore: number): number;
  /** Closes all listeners; none can be opened afterwards. */
  close(options: { readonly timeoutMs: number }): Promise<void>;
}

/** Creates the listeners for other computers of a service; none is open yet. */
export function createExternalListeners(service: string, parts: ListenerEnvironment, names: Hosts): ExternalListeners {
  return new ServiceExternalListeners(service, parts, names);
}

class ServiceExternalListeners implements ExternalListeners {
  readonly #service: string;
  readonly #parts: ListenerEnvironment;
  readonly #names: Hosts;
  readonly #opened = new Map<Listener, ListenerHandler>();
  readonly #opening = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(service: string, parts: ListenerEnvironment, names: Hosts) {
    this.#service = service;
    this.#parts = parts;
    this.#names = names;
  }

  open(options: ExternalListenerOptions): Promise<ExternalListener> {
    const work = this.#open(options);
    this.#opening.add(work);
    const settled = (): void => void this.#opening.delete(work);
    work.then(settled, settled);
    return work;
  }

  renewGuard(): void {
    for (const [listener, handler] of this.#opened) listener.replaceHandler(handler, this.#guard());
  }

  running(begunBefore: number): number {
    return [...this.#opened.keys()].reduce((sum, listener) => sum + listener.running(begunBefore), 0);
  }

  async close(options: { readonly timeoutMs: number }): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#opened.keys()].map((listener) => listener.close(options)));
  }

  #guard(): GuardPolicy {
    const { trusts } = this.#parts.origins;
    const { hostSettings } = this.#parts.runtime;
    return {
      // The receiving service decides about pages of other origins.
      crossOrigin: 'any',
      publicHost: createPublicHostResolver(trusts),
      hosts: [...hostSettings().allowedHosts, ...this.#names.names],
    };
  }

  async #open(options: ExternalListenerOptions): Promise<ExternalListener> {
    const { certificate, handler, ...rest } = options;
    const { log, metrics, loop } = this.#parts.observation;
    const { noteAddress, portsInUse } = this.#parts.addresses;
    const protocol = handler.tcp === undefined ? 'http' : 'tcp';
    const scheme = certificate === undefined ? protocol : 'https';
    const listener = await openListener({
      ...rest,
      service: this.#service,
      handler,
      protocol,
      certificate,
      http2: certificate !== undefined,
      guard: this.#guard(),
      log: log.child(this.#service),
      metrics: metrics.http,
      loop,
      isLeaving: this.#parts.runtime.isDraining,
      avoidPorts: portsInUse(),
    });
    this.#opened.set(listener, handler);
    const registrations = new DisposableStack();
    for (const host of options.hosts) {
      const name = host.includes(':') ? `[${host}]` : host;
      registrations.use(noteAddress(`${scheme}://${name}:${String(listener.port)}`));
    }
    const close = async (timeoutMs?: number): Promise<void> => {
      this.#opened.delete(listener);
      registrations.dispose();
      await listener.close(timeoutMs === undefined ? {} : { timeoutMs });
    };
    if (this.#isClosed) await close(0);
    return {
      port: listener.port,
      replaceCertificate: (next) => listener.replaceCertificate(next),
      close: () => close(),
    };
  }
}
