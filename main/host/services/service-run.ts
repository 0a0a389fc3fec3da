import type { ControlContext, HostControl } from '../../../services/contracts/control/api.ts';
import type { Jobs } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { ServiceSettings } from '../config/settings.ts';
import type { GuardPolicy } from '../http/guard.ts';
import { readCertificate } from '../http/certificate.ts';
import { openListener, type Handler, type Listener } from '../http/listener.ts';
import { withMetricsPage } from '../metrics/service-page.ts';
import type { HostParts } from './host-parts.ts';
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
  readonly listener: Listener | undefined;
  /** Takes over which hosts and origins are let in, as the host's settings say now. */
  renewGuard(): void;
  /** Ends it within the time to stop; what does not let go by then is left behind. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens a service's listener and room, creates it and starts it; the listener comes first and answers 503 until the
 * service has started. `signal` gives up a start that is under way; `listening` hears the port as soon as it is open,
 * undefined for a service without one.
 * @throws what the service or the opening throws, after everything was closed again; Problem `host.start_timeout`,
 * `host.start_stopped`.
 */
export async function runService(
  descriptor: ServiceDescriptor,
  parts: HostParts,
  settings: ServiceSettings,
  given: {
    readonly control: HostControl | undefined;
    readonly signal: AbortSignal;
    readonly listening: (port: number | undefined) => void;
  },
): Promise<ServiceRun> {
  const log = parts.log.child(descriptor.id);
  let room: OpenedContext | undefined;
  let listener: Listener | undefined;
  let service: Service | undefined;

  const ending = async (share: number, works: readonly (() => PromiseLike<unknown> | undefined)[]): Promise<void> => {
    const all = Promise.allSettled(works.map(async (work) => work()));
    try {
      for (const result of await withTimeout(all, timeToStop(parts) * share, parts.clock)) {
        if (result.status === 'rejected') log.error('service was not closed cleanly', { error: result.reason });
      }
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      log.error('service did not let go in time and is left behind');
    }
  };
  const close = async (): Promise<void> => {
    // Both at once: the listener waits for running requests, and streams among them end only with their service.
    await ending(serviceShare, [
      () => listener?.close({ timeoutMs: timeToStop(parts) * serviceShare * 0.9 }),
      () => service?.[Symbol.asyncDispose](),
    ]);
    await ending(roomShare, [() => room?.[Symbol.asyncDispose]()]);
  };

  try {
    const opened = await listen(descriptor, parts, settings);
    listener = opened;
    given.listening(opened?.port);
    room = await openServiceContext(descriptor, parts);
    const { context, jobs } = room;
    const { control } = given;
    const created = await descriptor.create(
      control === undefined ? context : withControl(context, control),
      settings.settings,
    );
    service = created;
    await started(created, parts, given.signal);
    const letIn = (): void => opened?.replaceHandler(handlerOf(descriptor, created, parts), guardOf(descriptor, parts));
    letIn();
    return { service: created, jobs, listener: opened, renewGuard: letIn, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** For the one service whose descriptor asks for the host's controls. */
function withControl(context: Context, host: HostControl): ControlContext {
  return { ...context, host };
}

/** In ms. */
function timeToStop(parts: HostParts): number {
  return parts.hostSettings().stopTimeout * 1000;
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

async function listen(
  descriptor: ServiceDescriptor,
  parts: HostParts,
  { port, settings }: ServiceSettings,
): Promise<Listener | undefined> {
  const { id, protocol } = descriptor;
  if (descriptor.port === undefined) return undefined;
  const tls = descriptor.tls?.(settings);
  return openListener({
    service: id,
    port,
    certificate: tls === undefined ? undefined : await readCertificate(tls),
    protocol: protocol === 'smtp' ? 'tcp' : 'http',
    handler: undefined,
    guard: guardOf(descriptor, parts),
    log: parts.log.child(id),
    metrics: parts.metrics.http,
    avoidPorts: parts.portsInUse(),
  });
}

function handlerOf({ id, controlsHost }: ServiceDescriptor, service: Service, parts: HostParts): Handler {
  // The control service has a page of its own for all metrics, behind the sign-in.
  if (service.http === undefined || controlsHost === true) return service;
  const failed = (error: unknown): void => parts.log.child(id).error('metrics page failed', { error });
  const { upgrade } = service;
  return {
    http: withMetricsPage(id, service.http, parts.metrics, failed),
    ...(upgrade === undefined ? {} : { upgrade }),
  };
}

function guardOf({ crossOrigin }: ServiceDescriptor, parts: HostParts): GuardPolicy {
  const { allowedHosts, allowedOrigins } = parts.hostSettings();
  return { crossOrigin: crossOrigin ?? 'refuse', hosts: allowedHosts, allowedOrigins };
}
