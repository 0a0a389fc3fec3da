import type { Hosts } from '../../../services/contracts/hosts.ts';
import type { ExternalListener, ExternalListenerOptions } from '../../../services/contracts/dispatch.ts';
import type { ListenerHandler } from '../../../services/contracts/listeners.ts';
import type { GuardPolicy } from '../http/guard.ts';
import { openListener, type Listener } from '../http/listener.ts';
import { createPublicHostResolver } from '../http/proxies.ts';
import type { HostDependencies } from './host-parts.ts';

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

export function createExternalListeners(service: string, parts: HostDependencies, names: Hosts): ExternalListeners {
  const opened = new Map<Listener, ListenerHandler>();
  const opening = new Set<Promise<unknown>>();
  let closed = false;
  const guard = (): GuardPolicy => ({
    // The receiving service decides about pages of other origins.
    crossOrigin: 'any',
    publicHost: createPublicHostResolver(parts.trusts),
    hosts: [...parts.hostSettings().allowedHosts, ...names.names],
  });

  const open = async (options: ExternalListenerOptions): Promise<ExternalListener> => {
    const { certificate, handler, ...rest } = options;
    const protocol = handler.tcp === undefined ? 'http' : 'tcp';
    const scheme = certificate === undefined ? protocol : 'https';
    const listener = await openListener({
      ...rest,
      service,
      handler,
      protocol,
      certificate,
      http2: certificate !== undefined,
      guard: guard(),
      log: parts.log.child(service),
      metrics: parts.metrics.http,
      loop: parts.loop,
      avoidPorts: parts.portsInUse(),
    });
    opened.set(listener, handler);
    const noted = new DisposableStack();
    for (const host of options.hosts) {
      const name = host.includes(':') ? `[${host}]` : host;
      noted.use(parts.noteAddress(`${scheme}://${name}:${String(listener.port)}`));
    }
    const close = async (timeoutMs?: number): Promise<void> => {
      opened.delete(listener);
      noted.dispose();
      await listener.close(timeoutMs === undefined ? {} : { timeoutMs });
    };
    if (closed) await close(0);
    return {
      port: listener.port,
      replaceCertificate: (next) => listener.replaceCertificate(next),
      close: () => close(),
    };
  };

  return {
    open(options) {
      const work = open(options);
      opening.add(work);
      const closed = (): void => void opening.delete(work);
      work.then(closed, closed);
      return work;
    },
    renewGuard() {
      for (const [listener, handler] of opened) listener.replaceHandler(handler, guard());
    },
    running: (begunBefore) => [...opened.keys()].reduce((sum, listener) => sum + listener.running(begunBefore), 0),
    async close(options) {
      closed = true;
      await Promise.allSettled(opening);
      await Promise.all([...opened.keys()].map((listener) => listener.close(options)));
    },
  };
}
