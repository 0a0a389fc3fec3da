import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../../services/kit/platform/file-replacement.ts';
import * as m from '#messages/host-problems';
import type { ListenerStatus } from '../../../services/contracts/control/service-status.ts';
import type { DispatchHandlers, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { Hosts } from '../../../services/contracts/hosts.ts';
import type { Jobs } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Context, Log, Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { servicePartName } from '../backup/write.ts';
import type { ServiceSettings } from '../config/settings.ts';
import { withCapabilities, type CapabilityProviders } from './capabilities.ts';
import { AdditionalHosts } from './additional-hosts.ts';
import type { HostDependencies, HostRuntime } from './host-parts.ts';
import { createExternalListeners } from './outside-listeners.ts';
import { openListeners, type ServiceListeners } from './service-listeners.ts';
import { openServiceContext, type OpenedContext } from './service-context.ts';
import { TimeoutExceeded, withTimeout } from '../runtime/with-timeout.ts';
import { canWaitForRequest, UnloadedService } from './unloaded-service.ts';

/** Time limit for a start. Long enough for a service that first unpacks a program. */
const startLimitMs = 60_000;

/** Shares of the stop timeout: running requests and the service itself, then its jobs and its database. */
const serviceShare = 0.4;
const databaseShare = 0.45;

/** Running service with its environment. */
export interface ServiceRun {
  readonly service: Service;
  readonly jobs: Jobs;
  /** Loads a service that waits for its first request. See {@link UnloadedService.load}. */
  load(): Promise<unknown>;
  /** See {@link ServiceListeners.dispatched}. */
  dispatched(hosts: readonly string[]): DispatchHandlers | undefined;
  /** See {@link ServiceListeners.getConnectionHandler}. */
  getConnectionHandler(listener: string): ConnectionHandler | undefined;
  /** Host names that the service has added. */
  readonly hosts: Hosts;
  /** Applies the allowed hosts and origins of the host's current settings. */
  renewGuard(): void;
  /** See {@link ServiceListeners.running}; includes listeners for other computers. */
  running(begunBefore: number): number;
  /** Stops the service within the stop timeout; unfinished work is left behind. Never rejects. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly powers: CapabilityProviders;
  /** Cancels the start. */
  readonly signal: AbortSignal;
  /** Called when the listeners are open, and whenever a retried one opens. */
  readonly listening: (states: readonly ListenerStatus[]) => void;
  /** Called with work that did not end in time; the promise resolves once it has. */
  readonly onLeftBehind: (rest: Promise<unknown>) => void;
  /** Loads the service now, even if it could wait for its first request. */
  readonly loadsNow: boolean;
  /** Called when a service that waited for its first request has been loaded. */
  readonly onLoaded: () => void;
  /** Called when a service that waited for its first request could not be loaded. */
  readonly onLoadFailed: (error: unknown) => void;
}

/**
 * Opens the listeners and the environment of a service, creates it and starts it; the listeners open first and answer
 * 503 until the service has started. A service that can wait for its first request is created and started by it.
 * @throws the error of the service or the opening, after everything was closed again; Problem `host.start_timeout`,
 * `host.start_stopped`.
 */
export async function runService(
  descriptor: ServiceDescriptor,
  parts: HostDependencies,
  settings: ServiceSettings,
  options: RunOptions,
): Promise<ServiceRun> {
  const run = new OpeningRun(descriptor, parts, options);
  try {
    return await run.open(settings);
  } catch (error) {
    await run.close();
    throw error;
  }
}

/** Listeners, environment and service of a run, as far as they have been opened. */
class OpeningRun {
  readonly #descriptor: ServiceDescriptor;
  readonly #parts: HostDependencies;
  readonly #options: RunOptions;
  readonly #hosts = new AdditionalHosts(() => this.#renewGuard());
  readonly #external: ReturnType<typeof createExternalListeners>;
  #listeners: ServiceListeners | undefined;
  #environment: OpenedContext | undefined;
  #service: Service | undefined;
  #releases: Disposable | undefined;
  /** Applies the guard to the listeners of the service as soon as they use it. */
  #renewListeners: () => void = () => undefined;

  constructor(descriptor: ServiceDescriptor, parts: HostDependencies, options: RunOptions) {
    this.#descriptor = descriptor;
    this.#parts = parts;
    this.#options = options;
    this.#external = createExternalListeners(descriptor.id, parts, this.#hosts);
  }

  async open(settings: ServiceSettings): Promise<ServiceRun> {
    const parts = this.#parts;
    const descriptor = this.#descriptor;
    const listeners = await openListeners(descriptor, parts, settings, this.#hosts, this.#options.listening);
    this.#listeners = listeners;
    this.#environment = await openServiceContext(descriptor, parts, this.#hosts);
    const { context, jobs } = this.#environment;
    const waits = !this.#options.loadsNow && (await canWaitForRequest(descriptor, parts, context, settings.settings));
    const service = waits
      ? this.#openUnloaded(context, listeners, settings.settings)
      : await this.#openService(context, settings.settings, this.#options.signal, (it) => (this.#service = it));
    this.#releases = await parts.identities.releases.attach(descriptor.id, service.accountData);
    if (!(service instanceof UnloadedService)) this.#useService(listeners, service);
    return {
      service,
      jobs,
      load: async () => (service instanceof UnloadedService ? service.load() : service),
      dispatched: (names) => listeners.dispatched(names),
      getConnectionHandler: (listener) => listeners.getConnectionHandler(listener),
      hosts: this.#hosts,
      running: (begunBefore) => listeners.running(begunBefore) + this.#external.running(begunBefore),
      renewGuard: () => this.#renewGuard(),
      close: () => this.close(),
    };
  }

  /** Creates and starts the service. */
  async #openService(
    context: Context,
    settings: unknown,
    signal: AbortSignal,
    onCreated: (service: Service) => void,
  ): Promise<Service> {
    if (signal.aborted) throw buildStoppedProblem();
    const withPowers = withCapabilities(context, this.#descriptor, this.#options.powers, this.#external);
    const service = await this.#descriptor.create(withPowers, settings);
    onCreated(service);
    await restoreParts(service, join(this.#parts.storage.dataDir, this.#descriptor.id, servicePartName));
    await started(service, this.#parts.runtime, signal);
    return service;
  }

  #openUnloaded(context: Context, listeners: ServiceListeners, settings: ServiceSettings['settings']): UnloadedService {
    const service = new UnloadedService({
      descriptor: this.#descriptor,
      settings,
      files: context.files,
      open: async (current, signal, onCreated) => {
        const loaded = await this.#openService(context, current, signal, onCreated);
        this.#useService(listeners, loaded);
        return loaded;
      },
      loaded: this.#options.onLoaded,
      failed: this.#options.onLoadFailed,
    });
    this.#service = service;
    this.#renewListeners = () => listeners.setLoader(() => service.load());
    this.#renewGuard();
    return service;
  }

  #useService(listeners: ServiceListeners, service: Service): void {
    const { app } = this.#options.powers;
    this.#renewListeners = () => listeners.setService(service, app);
    this.#renewGuard();
  }

  #renewGuard(): void {
    this.#renewListeners();
    this.#external.renewGuard();
  }

  async close(): Promise<void> {
    const stopTimeoutMs = getStopTimeout(this.#descriptor, this.#parts.runtime);
    const log = this.#parts.observation.log.child(this.#descriptor.id);
    const stopWithin = (share: number, works: readonly StopWork[]): Promise<void> =>
      settleWithin(works, stopTimeoutMs * share, this.#parts.runtime.clock, log, this.#options.onLeftBehind);
    this.#releases?.[Symbol.dispose]();
    // These run concurrently: the listeners wait for running requests, and streams among them end only with their
    // service.
    await stopWithin(serviceShare, [
      () => this.#listeners?.close({ timeoutMs: stopTimeoutMs * serviceShare * 0.9 }),
      () => this.#external.close({ timeoutMs: stopTimeoutMs * serviceShare * 0.9 }),
      () => this.#service?.[Symbol.asyncDispose](),
    ]);
    await stopWithin(databaseShare, [() => this.#environment?.[Symbol.asyncDispose]()]);
  }
}

type StopWork = () => PromiseLike<unknown> | undefined;

/** Waits until all works have ended, and logs their errors; unfinished work is passed to `onLeftBehind`. */
async function settleWithin(
  works: readonly StopWork[],
  timeoutMs: number,
  clock: Clock,
  log: Log,
  onLeftBehind: (rest: Promise<unknown>) => void,
): Promise<void> {
  const all = Promise.allSettled(works.map(async (work) => work()));
  try {
    for (const result of await withTimeout(all, timeoutMs, clock)) {
      if (result.status === 'rejected') log.error('service close failed', { error: result.reason });
    }
  } catch (error) {
    if (!(error instanceof TimeoutExceeded)) throw error;
    log.error('service stop timed out, left behind');
    onLeftBehind(all);
  }
}

/** Returns the stop timeout in ms: that of the settings, or of the service if longer. */
export function getStopTimeout({ stopMs = 0 }: ServiceDescriptor, { hostSettings }: HostRuntime): number {
  return Math.max(hostSettings().stopTimeout * 1000, stopMs);
}

/** Restores the service's part of a backup in addition to files. */
async function restoreParts(service: Service, folder: string): Promise<void> {
  if (service.restore === undefined || !existsSync(folder)) return;
  await service.restore(folder);
  await removeTree(folder);
}

function buildStoppedProblem(): Problem {
  return new Problem('host.start_stopped', 503, m.startStopped);
}

async function started(service: Service, { clock }: HostRuntime, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw buildStoppedProblem();
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(buildStoppedProblem());
  signal.addEventListener('abort', stop);
  try {
    await withTimeout(Promise.race([stopped.promise, service.start()]), startLimitMs, clock);
  } catch (error) {
    if (!(error instanceof TimeoutExceeded)) throw error;
    const detail = (): string => m.startTimeout({ seconds: startLimitMs / 1000 });
    throw new Problem('host.start_timeout', 504, detail, { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
