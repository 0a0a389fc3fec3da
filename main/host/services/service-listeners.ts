import type { IncomingMessage } from 'node:http';
import * as m from '#messages/host-problems';
import type { ListenerStatus } from '../../../services/contracts/control/service-status.ts';
import { readText, type Text } from '../../../services/contracts/text.ts';
import type { DispatchHandlers, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { Hosts } from '../../../services/contracts/hosts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { CertificateFiles, ListenerHandler, ListenerManifest } from '../../../services/contracts/listeners.ts';
import type { Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { addHeaders } from '../../../services/kit/http/respond.ts';
import { portSettings } from '../config/sections.ts';
import { portsIn, type ServiceSettings } from '../config/settings.ts';
import { PortUnavailable } from '../http/port-unavailable.ts';
import { readCertificate } from '../http/certificate.ts';
import type { GuardPolicy } from '../http/guard.ts';
import { openListener, type Listener } from '../http/listener.ts';
import { createLoadingHandler } from '../http/loading-handler.ts';
import { createPublicHostResolver } from '../http/proxies.ts';
import { withMetricsPage } from '../metrics/service-page.ts';
import { withApp, type AppHandlers } from './app-listener.ts';
import type { ListenerEnvironment } from './host-parts.ts';

/** Interval of retries for a listener that could not open. */
const retryAfterMs = 30_000;

/** Handlers of a service for its listeners. */
export type ListeningService = Pick<Service, 'http' | 'upgrade' | 'tcp' | 'listeners' | 'metricsToken'>;

/** Listeners of a running service. */
export interface ServiceListeners {
  /** Returns the current states, with the reasons of closed listeners. */
  states(): readonly ListenerStatus[];
  /**
   * Routes requests to the service, under the guard of the host's current settings. Until then they are answered with
   * 503. `app` serves the API and the pages on listeners whose manifest declares them.
   */
  setService(service: ListeningService, app: AppHandlers): void;
  /**
   * Lets the first request or connection call `load`, under the guard of the host's current settings. Requests wait
   * for it and are routed to the service that it passes to {@link setService}.
   */
  setLoader(load: () => Promise<unknown>): void;
  /**
   * Returns the main listener's handlers for another service of this process with the host names `hosts`; undefined
   * while it is closed or not HTTP.
   */
  dispatched(hosts: readonly string[]): DispatchHandlers | undefined;
  /** Returns the connection handler of a listener; undefined while it is closed, and for HTTP. */
  getConnectionHandler(listener: string): ConnectionHandler | undefined;
  /** See {@link Listener.running}; sum over all listeners. */
  running(begunBefore: number): number;
  close(options: { readonly timeoutMs: number }): Promise<void>;
}

/**
 * Opens the listeners of a service. A listener that cannot open is retried later while the others work; `changed` is
 * called for each change of state, at least once at the end of the opening.
 * @throws when none of them can open: the error of the only one, or a Problem that combines all of them.
 */
export async function openListeners(
  descriptor: ServiceDescriptor,
  parts: ListenerEnvironment,
  settings: ServiceSettings,
  hosts: Hosts,
  changed: (states: readonly ListenerStatus[]) => void,
): Promise<ServiceListeners> {
  const each = portSettings(descriptor).map(
    ({ listener, setting }) => new RetriedListener(descriptor, listener, setting, parts, settings, hosts),
  );
  const states = (): readonly ListenerStatus[] => each.map(({ state }) => state);
  const failures = (await Promise.all(each.map((listener) => listener.open()))).filter(
    (failure) => failure !== undefined,
  );
  changed(states());
  if (each.length > 0 && failures.length === each.length) throw combineFailures(failures.map(({ error }) => error));
  for (const { retry } of failures) retry(() => changed(states()));
  return {
    states,
    setService(service, app) {
      for (const listener of each) listener.setService(service, app);
    },
    setLoader(load) {
      for (const listener of each) listener.setLoader(load);
    },
    dispatched: (names) => each[0]?.dispatched(names),
    getConnectionHandler: (listener) => each.find(({ state }) => state.name === listener)?.getConnectionHandler,
    running: (begunBefore) => each.reduce((sum, listener) => sum + listener.running(begunBefore), 0),
    async close(options) {
      await Promise.all(each.map((listener) => listener.close(options)));
    },
  };
}

interface OpeningFailure {
  readonly error: unknown;
  /** Retries periodically; `opened` is called on success. */
  readonly retry: (opened: () => void) => void;
}

class RetriedListener {
  state: ListenerStatus;
  readonly #descriptor: ServiceDescriptor;
  readonly #manifest: ListenerManifest;
  readonly #parts: ListenerEnvironment;
  readonly #port: number;
  readonly #certificate: CertificateFiles | undefined;
  readonly #hosts: Hosts;
  #listener: Listener | undefined;
  #handler: ListenerHandler | undefined;
  #retry: Disposable | undefined;
  #opening: Promise<OpeningFailure | undefined> | undefined;
  #closed = false;

  constructor(
    descriptor: ServiceDescriptor,
    manifest: ListenerManifest,
    setting: string,
    parts: ListenerEnvironment,
    settings: ServiceSettings,
    hosts: Hosts,
  ) {
    this.#hosts = hosts;
    this.#descriptor = descriptor;
    this.#manifest = manifest;
    this.#parts = parts;
    this.#port = portsIn(settings).get(setting) ?? 0;
    this.#certificate = manifest.tls?.(settings.settings);
    const { name, title } = manifest;
    this.state = { name, title, address: null, port: null, reason: null, setting, suggestedPort: null };
  }

  open(): Promise<OpeningFailure | undefined> {
    this.#opening = this.#open();
    return this.#opening;
  }

  async #open(): Promise<OpeningFailure | undefined> {
    const certificate = this.#certificate;
    const { protocol, scheme = certificate === undefined ? protocol : `${protocol}s` } = this.#manifest;
    const { log, loop, metrics } = this.#parts.observation;
    const { portsInUse } = this.#parts.addresses;
    const service = this.#descriptor.id;
    try {
      const listener = await openListener({
        service,
        port: this.#port,
        protocol,
        certificate: certificate === undefined ? undefined : await readCertificate(certificate),
        handler: undefined,
        guard: this.#guard(),
        log: log.child(service),
        metrics: metrics.http,
        loop,
        isLeaving: this.#parts.runtime.isDraining,
        avoidPorts: portsInUse(),
      });
      this.#listener = listener;
      this.#become({
        address: `${scheme}://127.0.0.1:${listener.port}`,
        port: listener.port,
        reason: null,
        suggestedPort: null,
      });
      if (this.#handler !== undefined) this.#setHandler(this.#handler);
      return undefined;
    } catch (error) {
      const reason = toReason(error);
      // Logged only when there are several listeners and the reason is new; otherwise the failure of the service
      // reports it.
      if (readText(this.state.reason ?? '') !== readText(reason) && (this.#descriptor.listeners?.length ?? 0) > 1) {
        log.child(service).error('a listener could not open', { listener: this.#manifest.name, error });
      }
      const suggestedPort = error instanceof PortUnavailable ? (error.suggestedPort ?? null) : null;
      this.#become({ reason, suggestedPort });
      return { error, retry: (opened) => this.#tryAgain(opened) };
    }
  }

  #tryAgain(opened: () => void): void {
    if (this.#closed) return;
    this.#retry = this.#parts.runtime.clock.after(retryAfterMs, () => {
      void this.open().then((failure) => {
        if (failure === undefined) opened();
        else failure.retry(opened);
      });
    });
  }

  setService(service: ListeningService, app: AppHandlers): void {
    const { name } = this.#manifest;
    const isMain = this.#descriptor.listeners?.[0] === this.#manifest;
    const handler = isMain ? withMetrics(this.#descriptor, service, this.#parts) : service.listeners?.[name];
    this.#setHandler(handler && withinScope(this.#descriptor.id, withApp(this.#manifest, handler, app), this.#parts));
  }

  setLoader(load: () => Promise<unknown>): void {
    const { http, tcp } = createLoadingHandler(load, () => this.#handler);
    this.#setHandler(this.#manifest.protocol === 'http' ? { http } : { tcp });
  }

  #setHandler(handler: ListenerHandler | undefined): void {
    this.#handler = handler;
    this.#listener?.replaceHandler(handler, this.#guard());
  }

  dispatched(hosts: readonly string[]): DispatchHandlers | undefined {
    return this.#manifest.protocol === 'http' ? this.#listener?.createDispatchHandlers(hosts) : undefined;
  }

  get getConnectionHandler(): ConnectionHandler | undefined {
    const listener = this.#listener;
    return this.#manifest.protocol === 'tcp' && listener !== undefined
      ? (socket, leaving) => listener.handOverConnection(socket, leaving)
      : undefined;
  }

  running(begunBefore: number): number {
    return this.#listener?.running(begunBefore) ?? 0;
  }

  async close(options: { readonly timeoutMs: number }): Promise<void> {
    this.#closed = true;
    this.#retry?.[Symbol.dispose]();
    await this.#opening;
    await this.#listener?.close(options);
  }

  #guard(): GuardPolicy {
    const { allowedHosts, allowedOrigins } = this.#parts.runtime.hostSettings();
    return {
      crossOrigin: this.#manifest.crossOrigin ?? 'refuse',
      hosts: [...allowedHosts, ...this.#hosts.names],
      allowedOrigins,
      publicHost: createPublicHostResolver(this.#parts.origins.trusts),
    };
  }

  #become(change: Partial<ListenerStatus>): void {
    this.state = { ...this.state, ...change };
  }
}

function withMetrics(
  { id, capabilities, listeners = [] }: ServiceDescriptor,
  service: ListeningService,
  parts: ListenerEnvironment,
): ListenerHandler {
  // The control service has its own page for all metrics, behind the sign-in.
  if (service.http === undefined || capabilities?.includes('controlHost') === true) return service;
  if (listeners[0]?.ownMetricsPage === true) return service;
  const failed = (error: unknown): void => parts.observation.log.child(id).error('metrics page failed', { error });
  const { upgrade } = service;
  return {
    http: withMetricsPage(id, service.http, parts.observation.metrics, { failed, token: service.metricsToken ?? '' }),
    ...(upgrade === undefined ? {} : { upgrade }),
  };
}

/** Handles each request within a scope of the security log, which adds the address and account to recorded events. */
function withinScope(
  service: string,
  handler: ListenerHandler,
  { observation: { security }, origins: { caller } }: Pick<ListenerEnvironment, 'origins' | 'observation'>,
): ListenerHandler {
  const getScope = (request: IncomingMessage) => ({ service, address: caller(request).remoteAddress });
  const describe = ({ method = '', url = '/' }: IncomingMessage): string => `${method} ${url.split('?', 1)[0] ?? ''}`;
  const { http, upgrade, tcp } = handler;
  return {
    ...(http && {
      http: (request, response) =>
        security.answering(getScope(request), describe(request), response, () => {
          // Browsers store no data of accounts, unless the service says so for what may be stored.
          addHeaders(response, { 'Cache-Control': 'no-store' });
          handler.http?.(request, response);
        }),
    }),
    ...(upgrade && {
      upgrade: (request, socket, head) =>
        security.answering(getScope(request), describe(request), undefined, () =>
          handler.upgrade?.(request, socket, head),
        ),
    }),
    ...(tcp && {
      tcp: (socket, leaving) => {
        const scope = { service, address: socket.remoteAddress ?? '' };
        security.answering(scope, '', undefined, () => handler.tcp?.(socket, leaving));
      },
    }),
  };
}

/** Returns the message of an error for display. */
export function toReason(error: unknown): Text {
  if (error instanceof Problem) return error.text;
  return () => m.notStarted({ error: error instanceof Error ? error.message : String(error) });
}

function combineFailures(errors: readonly unknown[]): unknown {
  const [first] = errors;
  if (errors.length === 1) return first;
  const { code, status } = first instanceof Problem ? first : { code: 'listener.none_open', status: 500 };
  const detail = (): string => errors.map((error) => readText(toReason(error))).join(' ');
  return new Problem(code, status, detail, { cause: first });
}
