import { serviceChanged, type HostControl, type ServiceState } from '../../services/contracts/control.ts';
import type { Jobs } from '../../services/contracts/jobs.ts';
import { Problem } from '../../services/contracts/problem.ts';
import type { Health, Service, ServiceDescriptor } from '../../services/contracts/service.ts';
import type { ServiceSettings } from './config/settings.ts';
import { PortTaken } from './http/bind.ts';
import type { GuardPolicy } from './http/guard.ts';
import { openListener, type Handler, type Listener } from './http/listener.ts';
import { withMetricsPage } from './metrics/service-page.ts';
import type { HostParts } from './parts.ts';
import { openServiceRoom } from './service-room.ts';

const retryFailedAfterMs = 30_000;
const healthEveryMs = 10_000;

/**
 * The life of one service in this host: opens its database, listener and jobs around it, and keeps its failure to
 * itself. Calls are serialised, so that a restart in the middle of a start is simply done after it.
 */
export class ServiceRunner {
  readonly descriptor: ServiceDescriptor;
  readonly #parts: HostParts;
  readonly #control: HostControl | undefined;
  #settings: ServiceSettings;
  #open: { service: Service; jobs: Jobs; listener: Listener | undefined; stack: AsyncDisposableStack } | undefined;
  #state: ServiceState;
  #turn: Promise<unknown> = Promise.resolve();
  #retry: Disposable | undefined;
  #watch: Disposable | undefined;

  /** `control` is given to the one service whose descriptor asks for the host's controls. */
  constructor(descriptor: ServiceDescriptor, parts: HostParts, settings: ServiceSettings, control?: HostControl) {
    this.descriptor = descriptor;
    this.#parts = parts;
    this.#settings = settings;
    this.#control = control;
    const { id, title, summary } = descriptor;
    this.#state = {
      id,
      title,
      summary,
      state: 'off',
      detail: '',
      reason: null,
      address: null,
      port: null,
      suggestedPort: null,
    };
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** Undefined while the service is not running. */
  get service(): Service | undefined {
    return this.#open?.service;
  }

  get jobs(): Jobs | undefined {
    return this.#open?.jobs;
  }

  /** Base address for a client on this machine, undefined without a listener. */
  get address(): string | undefined {
    const port = this.#open?.listener?.port;
    if (port === undefined) return undefined;
    return `${this.descriptor.protocol ?? 'http'}://127.0.0.1:${port}`;
  }

  /** Never rejects for the service's own failure: that is in {@link state}. */
  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  stop(): Promise<void> {
    return this.#inTurn(() => this.#stop());
  }

  /** Applies what may have changed: takes new settings in place where the service can, else starts it anew. */
  apply(settings: ServiceSettings): Promise<{ restarted: boolean }> {
    return this.#inTurn(async () => {
      const before = this.#settings;
      this.#settings = settings;
      const service = this.#open?.service;
      if (service?.reconfigure && settings.enabled && before.port === settings.port) {
        await service.reconfigure(settings.settings);
        return { restarted: false };
      }
      await this.#stop();
      await this.#start();
      return { restarted: true };
    });
  }

  restart(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#stop();
      await this.#start();
    });
  }

  /** Takes over which hosts and origins are let in, as the host's settings say now. */
  renewGuard(): void {
    const open = this.#open;
    open?.listener?.replaceHandler(this.#handler(open.service), this.#guard());
  }

  /** Asks the service how it is and tells the pages when that has changed. */
  async refresh(): Promise<ServiceState> {
    const service = this.#open?.service;
    if (service !== undefined && (this.#state.state === 'up' || this.#state.state === 'degraded')) {
      const health = await this.#health(service);
      if (this.#open?.service === service) {
        this.#become({
          state: health.state === 'up' ? 'up' : 'degraded',
          detail: health.state === 'up' ? health.detail : '',
          reason: health.state === 'up' ? null : health.detail,
        });
      }
    }
    return this.#state;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(work);
    this.#turn = next.catch((error: unknown) =>
      this.#parts.log.child(this.descriptor.id).error('life cycle failed', { error }),
    );
    return next;
  }

  async #start(): Promise<void> {
    if (this.#open !== undefined) return;
    if (!this.#settings.enabled) {
      this.#become({ state: 'off', detail: '', reason: null, address: null, port: null, suggestedPort: null });
      return;
    }
    const { id } = this.descriptor;
    const log = this.#parts.log.child(id);
    this.#become({ state: 'starting', detail: '', reason: null, suggestedPort: null });
    const stack = new AsyncDisposableStack();
    try {
      const room = stack.use(await openServiceRoom(this.descriptor, this.#parts));
      const { context, jobs } = room;
      const given = this.#control === undefined ? context : { ...context, host: this.#control };
      const service = this.descriptor.create(given, this.#settings.settings);
      const listener = await this.#listen(service);
      // Both at once: the listener waits for running requests, and streams among them end only with their service.
      stack.defer(async () => {
        const timeoutMs = this.#parts.hostSettings().stopTimeout * 1000;
        await Promise.all([listener?.close({ timeoutMs }), service[Symbol.asyncDispose]()]);
      });
      this.#open = { service, jobs, listener, stack };
      await service.start();
      this.#become({ state: 'up', address: this.address ?? null, port: listener?.port ?? null });
      await this.refresh();
      this.#watch = this.#parts.clock.every(healthEveryMs, () => {
        this.refresh().catch((error: unknown) => log.error('health check failed', { error }));
      });
    } catch (error) {
      this.#open = undefined;
      log.error('service did not start', { error });
      await stack
        .disposeAsync()
        .catch((disposal: unknown) => log.error('service was not closed cleanly', { error: disposal }));
      this.#become({
        state: 'failed',
        reason:
          error instanceof Problem
            ? error.detail
            : `It did not start: ${error instanceof Error ? error.message : String(error)}`,
        address: null,
        port: null,
        suggestedPort: error instanceof PortTaken ? (error.suggestedPort ?? null) : null,
      });
      this.#retry = this.#parts.clock.after(retryFailedAfterMs, () => void this.start());
    }
  }

  async #listen(service: Service): Promise<Listener | undefined> {
    const { id, port, protocol } = this.descriptor;
    if (port === undefined) return undefined;
    return openListener({
      service: id,
      port: this.#settings.port,
      protocol: protocol === 'smtp' ? 'tcp' : 'http',
      handler: this.#handler(service),
      guard: this.#guard(),
      log: this.#parts.log.child(id),
      metrics: this.#parts.metrics.http,
      avoidPorts: this.#parts.portsInUse(),
    });
  }

  #handler(service: Service): Handler {
    const { id, controlsHost } = this.descriptor;
    // The control service has a page of its own for all metrics, behind the sign-in.
    if (service.http === undefined || controlsHost === true) return service;
    const failed = (error: unknown): void => this.#parts.log.child(id).error('metrics page failed', { error });
    const { upgrade } = service;
    return {
      http: withMetricsPage(id, service.http, this.#parts.metrics, failed),
      ...(upgrade === undefined ? {} : { upgrade }),
    };
  }

  #guard(): GuardPolicy {
    const { allowedHosts, allowedOrigins } = this.#parts.hostSettings();
    return { crossOrigin: this.descriptor.crossOrigin ?? 'refuse', hosts: allowedHosts, allowedOrigins };
  }

  async #stop(): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    this.#watch?.[Symbol.dispose]();
    this.#retry = this.#watch = undefined;
    const open = this.#open;
    if (open === undefined) return;
    this.#become({ state: 'stopping', detail: '' });
    this.#open = undefined;
    await open.stack
      .disposeAsync()
      .catch((error: unknown) =>
        this.#parts.log.child(this.descriptor.id).error('service was not closed cleanly', { error }),
      );
    this.#become({ state: 'off', detail: '', reason: null, address: null, port: null });
  }

  async #health(service: Service): Promise<Health> {
    try {
      return await service.health();
    } catch (error) {
      this.#parts.log.child(this.descriptor.id).error('health check failed', { error });
      return {
        state: 'down',
        detail: error instanceof Problem ? error.detail : 'Its health check failed; see the log.',
      };
    }
  }

  #become(change: Partial<ServiceState>): void {
    const next = { ...this.#state, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.#state)) return;
    this.#state = next;
    this.#parts.bus.publish(serviceChanged, next);
  }
}
