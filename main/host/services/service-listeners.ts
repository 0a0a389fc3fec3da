import type { IncomingMessage } from 'node:http';
import type { ListenerState } from '../../../services/contracts/control/api.ts';
import type { DispatchHandlers, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { Hosts } from '../../../services/contracts/hosts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { CertificateFiles, ListenerHandler, ListenerManifest } from '../../../services/contracts/listeners.ts';
import type { Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { portSettings } from '../config/sections.ts';
import { portsIn, type ServiceSettings } from '../config/settings.ts';
import { PortTaken } from '../http/bind.ts';
import { readCertificate } from '../http/certificate.ts';
import type { GuardPolicy } from '../http/guard.ts';
import { openListener, type Listener } from '../http/listener.ts';
import { publicHostBy } from '../http/proxies.ts';
import { withMetricsPage } from '../metrics/service-page.ts';
import type { HostParts } from './host-parts.ts';

/** How soon a listener that could not open is tried again. */
const retryAfterMs = 30_000;

/** The listeners of a service that runs. */
export interface ServiceListeners {
  /** As they are now; those that could not open with the reason. */
  states(): readonly ListenerState[];
  /** Lets them answer with the service, under the guard that the host's settings want now. Until then they answer 503. */
  answerWith(service: Service): void;
  /** The main one's handlers, for another service of this process that answers to `hosts`; undefined where it is not open or no HTTP. */
  dispatched(hosts: readonly string[]): DispatchHandlers | undefined;
  /** What takes connections for the listener of this name; undefined where it is not open or speaks HTTP. */
  taker(listener: string): ConnectionHandler | undefined;
  /** See {@link Listener.running}, of all listeners together. */
  running(begunBefore: number): number;
  close(options: { readonly timeoutMs: number }): Promise<void>;
}

/**
 * Opens a service's listeners. One that cannot open leaves the others up and is tried again later; `changed` hears of
 * each state they come into, once at the end of the opening at least.
 * @throws where none of them can open: what the only one says, or a Problem with what all of them say.
 */
export async function openListeners(
  descriptor: ServiceDescriptor,
  parts: HostParts,
  settings: ServiceSettings,
  hosts: Hosts,
  changed: (states: readonly ListenerState[]) => void,
): Promise<ServiceListeners> {
  const each = portSettings(descriptor).map(
    ({ listener, setting }) => new OneListener(descriptor, listener, setting, parts, settings, hosts),
  );
  const states = (): readonly ListenerState[] => each.map(({ state }) => state);
  const failures = (await Promise.all(each.map((one) => one.open()))).filter((failure) => failure !== undefined);
  changed(states());
  if (each.length > 0 && failures.length === each.length) throw together(failures.map(({ error }) => error));
  for (const { retry } of failures) retry(() => changed(states()));
  return {
    states,
    answerWith(service) {
      for (const one of each) one.answerWith(service);
    },
    dispatched: (names) => each[0]?.dispatched(names),
    taker: (listener) => each.find(({ state }) => state.name === listener)?.taker,
    running: (begunBefore) => each.reduce((sum, one) => sum + one.running(begunBefore), 0),
    async close(options) {
      await Promise.all(each.map((one) => one.close(options)));
    },
  };
}

interface OpeningFailure {
  readonly error: unknown;
  /** Tries again from time to time; `opened` hears of the success. */
  readonly retry: (opened: () => void) => void;
}

class OneListener {
  state: ListenerState;
  readonly #descriptor: ServiceDescriptor;
  readonly #manifest: ListenerManifest;
  readonly #parts: HostParts;
  readonly #port: number;
  readonly #certificate: CertificateFiles | undefined;
  readonly #hosts: Hosts;
  #listener: Listener | undefined;
  #service: Service | undefined;
  #retry: Disposable | undefined;
  #opening: Promise<OpeningFailure | undefined> | undefined;
  #closed = false;

  constructor(
    descriptor: ServiceDescriptor,
    manifest: ListenerManifest,
    setting: string,
    parts: HostParts,
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
    const { log, loop, metrics, portsInUse } = this.#parts;
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
        avoidPorts: portsInUse(),
      });
      this.#listener = listener;
      this.#become({
        address: `${scheme}://127.0.0.1:${listener.port}`,
        port: listener.port,
        reason: null,
        suggestedPort: null,
      });
      if (this.#service !== undefined) this.answerWith(this.#service);
      return undefined;
    } catch (error) {
      const reason = sentenceOf(error);
      // The service's own failure says it where this is the only one, and the retries have nothing new to say.
      if (this.state.reason !== reason && (this.#descriptor.listeners?.length ?? 0) > 1) {
        log.child(service).error('a listener could not open', { listener: this.#manifest.name, error });
      }
      const suggestedPort = error instanceof PortTaken ? (error.suggestedPort ?? null) : null;
      this.#become({ reason, suggestedPort });
      return { error, retry: (opened) => this.#tryAgain(opened) };
    }
  }

  #tryAgain(opened: () => void): void {
    if (this.#closed) return;
    this.#retry = this.#parts.clock.after(retryAfterMs, () => {
      void this.open().then((failure) => {
        if (failure === undefined) opened();
        else failure.retry(opened);
      });
    });
  }

  answerWith(service: Service): void {
    this.#service = service;
    const { name } = this.#manifest;
    const isMain = this.#descriptor.listeners?.[0] === this.#manifest;
    const handler = isMain ? withMetrics(this.#descriptor, service, this.#parts) : service.listeners?.[name];
    this.#listener?.replaceHandler(handler && withinScope(this.#descriptor.id, handler, this.#parts), this.#guard());
  }

  dispatched(hosts: readonly string[]): DispatchHandlers | undefined {
    return this.#manifest.protocol === 'http' ? this.#listener?.dispatched(hosts) : undefined;
  }

  get taker(): ConnectionHandler | undefined {
    const listener = this.#listener;
    return this.#manifest.protocol === 'tcp' && listener !== undefined
      ? (socket, leaving) => listener.handOver(socket, leaving)
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
    const { allowedHosts, allowedOrigins } = this.#parts.hostSettings();
    return {
      crossOrigin: this.#manifest.crossOrigin ?? 'refuse',
      hosts: [...allowedHosts, ...this.#hosts.names],
      allowedOrigins,
      publicHost: publicHostBy(this.#parts.trusts),
    };
  }

  #become(change: Partial<ListenerState>): void {
    this.state = { ...this.state, ...change };
  }
}

function withMetrics(
  { id, capabilities, listeners = [] }: ServiceDescriptor,
  service: Service,
  parts: HostParts,
): ListenerHandler {
  // The control service has a page of its own for all metrics, behind the sign-in.
  if (service.http === undefined || capabilities?.includes('controlHost') === true) return service;
  if (listeners[0]?.ownMetricsPage === true) return service;
  const failed = (error: unknown): void => parts.log.child(id).error('metrics page failed', { error });
  const { upgrade } = service;
  return {
    http: withMetricsPage(id, service.http, parts.metrics, { failed, token: service.metricsToken ?? '' }),
    ...(upgrade === undefined ? {} : { upgrade }),
  };
}

/** Answers each request within a scope of the security log, which adds its address and account to what is recorded. */
function withinScope(service: string, handler: ListenerHandler, { security, caller }: HostParts): ListenerHandler {
  const scopeOf = (request: IncomingMessage) => ({ service, address: caller(request).remoteAddress });
  const describe = ({ method = '', url = '/' }: IncomingMessage): string => `${method} ${url.split('?', 1)[0] ?? ''}`;
  const { http, upgrade, tcp } = handler;
  return {
    ...(http && {
      http: (request, response) =>
        security.answering(scopeOf(request), describe(request), response, () => handler.http?.(request, response)),
    }),
    ...(upgrade && {
      upgrade: (request, socket, head) =>
        security.answering(scopeOf(request), describe(request), undefined, () =>
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

/** What a person reads of an error. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  return `It did not start: ${error instanceof Error ? error.message : String(error)}`;
}

function together(errors: readonly unknown[]): unknown {
  const [first] = errors;
  if (errors.length === 1) return first;
  const { code, status } = first instanceof Problem ? first : { code: 'listener.none_open', status: 500 };
  return new Problem(code, status, errors.map(sentenceOf).join(' '), { cause: first });
}
