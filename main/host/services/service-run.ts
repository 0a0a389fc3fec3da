import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListenerState } from '../../../services/contracts/control/api.ts';
import type { DispatchHandlers, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { Hosts } from '../../../services/contracts/hosts.ts';
import type { Jobs } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { ownPartName } from '../backup/write.ts';
import type { ServiceSettings } from '../config/settings.ts';
import { empowered, type Powers } from './capabilities.ts';
import { FurtherHosts } from './further-hosts.ts';
import type { HostParts } from './host-parts.ts';
import { outsideListeners } from './outside-listeners.ts';
import { openListeners, type ServiceListeners } from './service-listeners.ts';
import { openServiceContext, type OpenedContext } from './service-context.ts';
import { TooLate, withTimeout } from '../runtime/with-timeout.ts';

/** A start that takes longer has failed. Long enough for a service that unpacks a program of its own first. */
const startLimitMs = 60_000;

/** Shares of the time to stop: running requests and the service itself, then its jobs and its database. */
const serviceShare = 0.4;
const roomShare = 0.45;

/** A service that runs, with what the host keeps open around it. */
export interface ServiceRun {
  readonly service: Service;
  readonly jobs: Jobs;
  /** See {@link ServiceListeners.dispatched}. */
  dispatched(hosts: readonly string[]): DispatchHandlers | undefined;
  /** See {@link ServiceListeners.taker}. */
  taker(listener: string): ConnectionHandler | undefined;
  /** Names that it has added to those of this machine. */
  readonly hosts: Hosts;
  /** Takes over which hosts and origins are let in, as the host's settings say now. */
  renewGuard(): void;
  /** See {@link ServiceListeners.running}, with those for other machines. */
  running(begunBefore: number): number;
  /** Ends it within the time to stop; what does not let go by then is left behind. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens a service's listeners and room, creates it and starts it; the listeners come first and answer 503 until
 * the service has started. `signal` gives up a start that is under way; `listening` hears of the listeners as soon as they
 * are open, and again whenever one that could not open does.
 * @throws what the service or the opening throws, after everything was closed again; Problem `host.start_timeout`,
 * `host.start_stopped`.
 */
export async function runService(
  descriptor: ServiceDescriptor,
  parts: HostParts,
  settings: ServiceSettings,
  given: {
    readonly powers: Powers;
    readonly signal: AbortSignal;
    readonly listening: (states: readonly ListenerState[]) => void;
    /** Told of what did not let go in time, which resolves once it has. */
    readonly leftBehind: (rest: Promise<unknown>) => void;
  },
): Promise<ServiceRun> {
  const log = parts.log.child(descriptor.id);
  let room: OpenedContext | undefined;
  let listeners: ServiceListeners | undefined;
  let service: Service | undefined;
  let releases: Disposable | undefined;
  let renewGuard = (): void => undefined;
  const hosts = new FurtherHosts(() => renewGuard());
  const outside = outsideListeners(descriptor.id, parts, hosts);

  const ending = async (share: number, works: readonly (() => PromiseLike<unknown> | undefined)[]): Promise<void> => {
    const all = Promise.allSettled(works.map(async (work) => work()));
    try {
      for (const result of await withTimeout(all, timeToStop(descriptor, parts) * share, parts.clock)) {
        if (result.status === 'rejected') log.error('service was not closed cleanly', { error: result.reason });
      }
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      log.error('service did not let go in time and is left behind');
      given.leftBehind(all);
    }
  };
  const close = async (): Promise<void> => {
    // Both at once: the listeners wait for running requests, and streams among them end only with their service.
    releases?.[Symbol.dispose]();
    await ending(serviceShare, [
      () => listeners?.close({ timeoutMs: timeToStop(descriptor, parts) * serviceShare * 0.9 }),
      () => outside.close({ timeoutMs: timeToStop(descriptor, parts) * serviceShare * 0.9 }),
      () => service?.[Symbol.asyncDispose](),
    ]);
    await ending(roomShare, [() => room?.[Symbol.asyncDispose]()]);
  };

  try {
    const opened = await openListeners(descriptor, parts, settings, hosts, given.listening);
    listeners = opened;
    room = await openServiceContext(descriptor, parts, hosts);
    const { context, jobs } = room;
    const created = await descriptor.create(empowered(context, descriptor, given.powers, outside), settings.settings);
    service = created;
    await putBack(created, join(parts.dataDir, descriptor.id, ownPartName));
    renewGuard = () => outside.renewGuard();
    await started(created, parts, given.signal);
    releases = await parts.releases.attach(descriptor.id, created.accountData);
    renewGuard = () => {
      opened.answerWith(created);
      outside.renewGuard();
    };
    renewGuard();
    const dispatched = (names: readonly string[]): DispatchHandlers | undefined => opened.dispatched(names);
    const taker = (listener: string): ConnectionHandler | undefined => opened.taker(listener);
    const running = (begunBefore: number): number => opened.running(begunBefore) + outside.running(begunBefore);
    return { service: created, jobs, dispatched, taker, hosts, running, renewGuard, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** In ms: what the settings say, or what the service needs where that is more. */
export function timeToStop({ stopMs = 0 }: ServiceDescriptor, parts: HostParts): number {
  return Math.max(parts.hostSettings().stopTimeout * 1000, stopMs);
}

/** What a restored backup holds of the service besides files. */
async function putBack(service: Service, folder: string): Promise<void> {
  if (service.restore === undefined || !existsSync(folder)) return;
  await service.restore(folder);
  await rm(folder, { recursive: true, force: true });
}

async function started(service: Service, { clock }: HostParts, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void =>
    stopped.reject(new Problem('host.start_stopped', 503, 'It was stopped before it had started.'));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    await withTimeout(Promise.race([stopped.promise, service.start()]), startLimitMs, clock);
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    const detail = `It did not finish starting within ${startLimitMs / 1000} seconds.`;
    throw new Problem('host.start_timeout', 504, detail, { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
