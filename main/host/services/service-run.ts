import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListenerState } from '../../../services/contracts/control/api.ts';
import type { DispatchHandlers, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { Hosts } from '../../../services/contracts/hosts.ts';
import type { Jobs } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log, Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { servicePartName } from '../backup/write.ts';
import type { ServiceSettings } from '../config/settings.ts';
import { withCapabilities, type CapabilityProviders } from './capabilities.ts';
import { AdditionalHosts } from './additional-hosts.ts';
import type { HostDependencies, HostRuntime } from './host-parts.ts';
import { createExternalListeners } from './outside-listeners.ts';
import { openListeners, type ServiceListeners } from './service-listeners.ts';
import { openServiceContext, type OpenedContext } from './service-context.ts';
import { TimeoutExceeded, withTimeout } from '../runtime/with-timeout.ts';

/** Time limit for a start. Long enough for a service that first unpacks a program. */
const startLimitMs = 60_000;

/** Shares of the stop timeout: running requests and the service itself, then its jobs and its database. */
const serviceShare = 0.4;
const databaseShare = 0.45;

/** Running service with its environment. */
export interface ServiceRun {
  readonly service: Service;
  readonly jobs: Jobs;
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

/**
 * Opens the listeners and the environment of a service, creates it and starts it; the listeners open first and answer
 * 503 until the service has started. `signal` cancels a start; `listening` is called when the listeners are open, and
 * whenever a retried one opens.
 * @throws the error of the service or the opening, after everything was closed again; Problem `host.start_timeout`,
 * `host.start_stopped`.
 */
export async function runService(
  descriptor: ServiceDescriptor,
  parts: HostDependencies,
  settings: ServiceSettings,
  options: {
    readonly powers: CapabilityProviders;
    readonly signal: AbortSignal;
    readonly listening: (states: readonly ListenerState[]) => void;
    /** Called with work that did not end in time; the promise resolves once it has. */
    readonly onLeftBehind: (rest: Promise<unknown>) => void;
  },
): Promise<ServiceRun> {
  const log = parts.log.child(descriptor.id);
  let room: OpenedContext | undefined;
  let listeners: ServiceListeners | undefined;
  let service: Service | undefined;
  let releases: Disposable | undefined;
  let renewGuard = (): void => undefined;
  const hosts = new AdditionalHosts(() => renewGuard());
  const outside = createExternalListeners(descriptor.id, parts, hosts);

  const stopTimeoutMs = (): number => getStopTimeout(descriptor, parts);
  const stopWithin = (share: number, works: readonly StopWork[]): Promise<void> =>
    settleWithin(works, stopTimeoutMs() * share, parts.clock, log, options.onLeftBehind);
  const close = async (): Promise<void> => {
    // Both run concurrently: the listeners wait for running requests, and streams among them end only with their
    // service.
    releases?.[Symbol.dispose]();
    await stopWithin(serviceShare, [
      () => listeners?.close({ timeoutMs: stopTimeoutMs() * serviceShare * 0.9 }),
      () => outside.close({ timeoutMs: stopTimeoutMs() * serviceShare * 0.9 }),
      () => service?.[Symbol.asyncDispose](),
    ]);
    await stopWithin(databaseShare, [() => room?.[Symbol.asyncDispose]()]);
  };

  try {
    const opened = await openListeners(descriptor, parts, settings, hosts, options.listening);
    listeners = opened;
    room = await openServiceContext(descriptor, parts, hosts);
    const { context, jobs } = room;
    const created = await descriptor.create(
      withCapabilities(context, descriptor, options.powers, outside),
      settings.settings,
    );
    service = created;
    await restoreParts(created, join(parts.dataDir, descriptor.id, servicePartName));
    renewGuard = () => outside.renewGuard();
    await started(created, parts, options.signal);
    releases = await parts.releases.attach(descriptor.id, created.accountData);
    renewGuard = () => {
      opened.setService(created);
      outside.renewGuard();
    };
    renewGuard();
    const dispatched = (names: readonly string[]): DispatchHandlers | undefined => opened.dispatched(names);
    const taker = (listener: string): ConnectionHandler | undefined => opened.getConnectionHandler(listener);
    const running = (begunBefore: number): number => opened.running(begunBefore) + outside.running(begunBefore);
    return { service: created, jobs, dispatched, getConnectionHandler: taker, hosts, running, renewGuard, close };
  } catch (error) {
    await close();
    throw error;
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
  await rm(folder, { recursive: true, force: true });
}

async function started(service: Service, { clock }: HostRuntime, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void =>
    stopped.reject(new Problem('host.start_stopped', 503, 'It was stopped before it had started.'));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    await withTimeout(Promise.race([stopped.promise, service.start()]), startLimitMs, clock);
  } catch (error) {
    if (!(error instanceof TimeoutExceeded)) throw error;
    const detail = `It did not finish starting within ${startLimitMs / 1000} seconds.`;
    throw new Problem('host.start_timeout', 504, detail, { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
