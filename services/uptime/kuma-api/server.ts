import type { IncomingMessage } from 'node:http';
import type { Socket } from 'socket.io';
import { accountsChanged } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { createSocketIo, type SocketIo } from '../../kit/socket-io.ts';
import { formatOffset } from '../domain/time-zone.ts';
import { getAveragePing } from '../domain/tally.ts';
import type { StoredHeartbeat } from '../store/heartbeats.ts';
import { getLastDayTally, type RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { toKumaHeartbeat, toKumaMonitor } from '../wire/kuma-monitor.ts';
import type { Session, SocketEvents, SocketDependencies } from './events.ts';
import { maintenanceEvents, maintenanceList } from './maintenance-events.ts';
import { canWrite, monitorEvents, monitorList } from './monitor-events.ts';
import { otherEvents, pageEvents, toKumaApiKey, statusPageList } from './other-events.ts';
import { notificationEvents, notificationList } from './notification-events.ts';
import { isStillValid, signInEvents } from './sign-in.ts';

export const socketPath = '/socket.io';
/** Large enough for a status page with its icon. */
const maxMessageBytes = 4 * 1024 * 1024;
const maxClients = 200;
const initialHeartbeats = 100;
/** Interval at which credentials are verified; a call verifies them immediately when the last check is older. */
const validationIntervalMs = 5000;
/** Version of Uptime Kuma that is reported to clients. */
const kumaVersion = '2.5.3';

interface Client {
  readonly socket: Socket;
  readonly session: Session;
}

/** Live protocol of Uptime Kuma. */
export interface KumaSocket extends SocketIo {
  readonly onHeartbeat: (monitor: RuntimeMonitor, beat: StoredHeartbeat) => void;
  /** Sends added, changed and removed monitors. */
  readonly onMonitorChange: (ids: readonly number[]) => void;
  /** Sends a list that clients cache. */
  readonly onListChange: (list: 'statusPages' | 'dockerHosts' | 'keys') => void;
  /** Sends the maintenance windows. */
  readonly onMaintenanceChange: () => void;
}

/**
 * Opens socket.io 4 over engine.io 4: each call is an event with an acknowledgement, and changes are pushed to all
 * signed-in clients.
 */
export function openKumaSocket(options: Omit<SocketDependencies, 'broadcast'>): KumaSocket {
  const { context, monitors } = options;
  const { log } = context;
  const clients = new Set<Client>();
  const signedIn = (): readonly Client[] => [...clients].filter(({ session }) => session.signedIn);
  const dependencies: SocketDependencies = {
    ...options,
    broadcast(event, list, forWriters) {
      for (const { session } of signedIn()) session.emit(event, canWrite(dependencies, session) ? forWriters : list);
    },
  };
  const events: SocketEvents = {
    ...signInEvents(context, (session) => sendInitialLists(dependencies, session)),
    ...monitorEvents(dependencies),
    ...otherEvents(dependencies),
    ...pageEvents(dependencies),
    ...maintenanceEvents(dependencies),
    ...notificationEvents(dependencies),
  };

  const handleConnection = (socket: Socket): void => {
    const { request } = socket;
    const { remoteAddress, isCrossSite: foreignSite } = context.caller(request);
    const session: Session = {
      identity: undefined,
      proof: undefined,
      signedIn: false,
      remoteAddress,
      foreignSite,
      userAgent: request.headers['user-agent'] ?? '',
      emit: (event, ...args) => void socket.emit(event, ...args),
    };
    const client = { socket, session };
    // Registered before the first `await`, so that no early call is lost.
    socket.onAny(
      (event: string, ...args: unknown[]) => void handleCall({ parts: dependencies, events, client }, event, args),
    );
    socket.on('disconnect', () => clients.delete(client));
    clients.add(client);
    const { timezone, publicUrl } = dependencies.options.current;
    socket.emit('info', {
      primaryBaseURL: publicUrl || null,
      serverTimezone: timezone,
      serverTimezoneOffset: formatOffset(dependencies.context.clock.now(), timezone),
    });
    void signInLocalClient(dependencies, request, session).catch((error: unknown) =>
      log.error('local client sign-in failed', { error }),
    );
  };

  /** Disconnects clients whose token, session, account or grant is no longer valid. */
  const disconnectInvalid = async (): Promise<void> => {
    for (const { socket, session } of signedIn()) {
      if (!(await isStillValid(context, session))) socket.disconnect(true);
    }
  };
  const checkSessions = (): void =>
    void disconnectInvalid().catch((error: unknown) => log.error('client session validation failed', { error }));
  const accountsSubscription = context.bus.subscribe(accountsChanged, checkSessions);
  const validationTimer = context.clock.every(validationIntervalMs, checkSessions);

  const io = createSocketIo({
    path: socketPath,
    maxMessageBytes,
    admit() {
      if (clients.size >= maxClients) throw new Problem('uptime.too_many_clients', 503, 'Too many clients');
    },
    onConnection: handleConnection,
    log,
  });
  return {
    http: io.http,
    upgrade: io.upgrade,
    onHeartbeat(monitor, beat) {
      if (clients.size === 0) return;
      const heartbeatMessage = toKumaHeartbeat({ ...beat, monitorId: monitor.id });
      const recipients = signedIn();
      for (const { session } of recipients) session.emit('heartbeat', heartbeatMessage);
      if (recipients.length === 0) return;
      const emit: Session['emit'] = (event, ...args) => {
        for (const { session } of recipients) session.emit(event, ...args);
      };
      void sendStatistics(dependencies, monitor, emit).catch((error: unknown) =>
        log.error('client statistics could not be sent', { error }),
      );
    },
    onMonitorChange(ids) {
      if (clients.size === 0) return;
      for (const { session } of signedIn()) {
        const changed = ids.flatMap((id) => monitors.find(id) ?? []);
        const entries = changed.map((monitor) => [
          String(monitor.id),
          toKumaMonitor(monitor, monitors, dependencies.tags.all, canWrite(dependencies, session)),
        ]);
        if (entries.length > 0) session.emit('updateMonitorIntoList', Object.fromEntries(entries));
        for (const id of ids) if (monitors.find(id) === undefined) session.emit('deleteMonitorFromList', id);
      }
    },
    onListChange(list) {
      if (clients.size === 0) return;
      const sendList = list === 'statusPages' ? sendStatusPages : list === 'dockerHosts' ? sendDockerHosts : sendKeys;
      void Promise.resolve(sendList(dependencies)).catch((error: unknown) =>
        log.error('client list could not be sent', { error }),
      );
    },
    onMaintenanceChange() {
      for (const { session } of signedIn()) session.emit('maintenanceList', maintenanceList(dependencies));
    },
    async [Symbol.asyncDispose]() {
      accountsSubscription[Symbol.dispose]();
      validationTimer[Symbol.dispose]();
      await io[Symbol.asyncDispose]();
    },
  };
}

async function handleCall(
  {
    parts: dependencies,
    events,
    client,
  }: { readonly parts: SocketDependencies; readonly events: SocketEvents; readonly client: Client },
  name: string,
  callArguments: readonly unknown[],
): Promise<void> {
  const { session, socket } = client;
  const last = callArguments.at(-1);
  const reply = typeof last === 'function' ? (last as (value: unknown) => void) : () => undefined;
  const args = typeof last === 'function' ? callArguments.slice(0, -1) : callArguments;
  try {
    const event = Object.hasOwn(events, name) ? events[name] : undefined;
    if (event === undefined)
      throw new Problem('uptime.unknown_call', 404, `Homeport does not have this: ${name.slice(0, 100)}`);
    if (session.signedIn && !(await isStillValid(dependencies.context, session))) {
      session.signedIn = false;
      reply({ ok: false, msg: 'You are not logged in.' });
      socket.disconnect(true);
      return;
    }
    requireAccess(dependencies, session, event.needs);
    const result = await event.run(session, ...args);
    reply(typeof result === 'boolean' ? result : { ok: true, ...result });
  } catch (error) {
    if (error instanceof Problem) {
      const isKey = /^[a-z]+([A-Z][a-z]*)+$/.test(error.detail);
      reply({ ok: false, msg: error.detail, ...(isKey ? { msgi18n: true } : {}) });
      return;
    }
    dependencies.context.log.error('client call failed', { call: name, error });
    reply({ ok: false, msg: 'Something went wrong here. The log says more.' });
  }
}

/** @throws Problem */
function requireAccess(dependencies: SocketDependencies, session: Session, needs: 'nobody' | 'read' | 'write'): void {
  if (needs === 'nobody') return;
  if (!session.signedIn) throw new Problem('uptime.sign_in', 401, 'You are not logged in.');
  if (needs === 'write' && !canWrite(dependencies, session)) {
    throw new Problem('uptime.forbidden', 403, 'This account may not change the uptime monitor.');
  }
}

/** Signs in local clients while no account exists. */
async function signInLocalClient(
  dependencies: SocketDependencies,
  { socket }: IncomingMessage,
  session: Session,
): Promise<void> {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (session.foreignSite || (address !== '::1' && !address.startsWith('127.'))) return;
  if ((await dependencies.context.accounts.list()).length > 0) return;
  session.signedIn = true;
  await sendInitialLists(dependencies, session);
  session.emit('autoLogin');
}

/** Sends the lists that clients cache; the details of each monitor follow asynchronously. */
async function sendInitialLists(dependencies: SocketDependencies, session: Session): Promise<void> {
  const { options, pages, dockerHosts, keys, context } = dependencies;
  session.emit('monitorList', monitorList(dependencies, session));
  const { timezone, publicUrl } = options.current;
  session.emit('info', {
    version: kumaVersion,
    latestVersion: kumaVersion,
    isContainer: false,
    dbType: 'sqlite',
    runtime: { platform: process.platform, arch: process.arch },
    primaryBaseURL: publicUrl || null,
    serverTimezone: timezone,
    serverTimezoneOffset: formatOffset(dependencies.context.clock.now(), timezone),
  });
  session.emit('maintenanceList', maintenanceList(dependencies));
  session.emit('notificationList', notificationList(dependencies, canWrite(dependencies, session)));
  session.emit('proxyList', []);
  session.emit(
    'dockerHostList',
    (await dockerHosts.list()).map((one) => ({ ...one, userID: 1 })),
  );
  session.emit(
    'apiKeyList',
    canWrite(dependencies, session) ? (await keys.list()).map((key) => toKumaApiKey(key, context.clock.now())) : [],
  );
  session.emit('remoteBrowserList', []);
  session.emit('statusPageList', statusPageList(pages.all()));
  void sendMonitorDetails(dependencies, session).catch((error: unknown) =>
    context.log.error('client details could not be sent', { error }),
  );
}

async function sendMonitorDetails(dependencies: SocketDependencies, { emit }: Session): Promise<void> {
  for (const monitor of dependencies.monitors.all()) {
    const list = (await dependencies.beats.list(monitor.id, { limit: initialHeartbeats })).toReversed();
    emit('heartbeatList', String(monitor.id), list.map(toKumaHeartbeat), true);
    await sendStatistics(dependencies, monitor, emit);
  }
}

/** Sends the statistics of a monitor, as Uptime Kuma does after each heartbeat. */
async function sendStatistics(
  { figures, context }: SocketDependencies,
  monitor: RuntimeMonitor,
  emit: Session['emit'],
): Promise<void> {
  const { id, chain } = monitor;
  const ping = getAveragePing(getLastDayTally(monitor, context.clock.now()));
  emit('avgPing', id, ping === null ? null : Math.round(ping));
  emit('uptime', id, 24, await figures.getUptimeRatio(monitor, 24));
  emit('uptime', id, 720, await figures.getUptimeRatio(monitor, 720));
  emit('uptime', id, '1y', await figures.getUptimeRatio(monitor, 8760));
  const leaf = chain?.chain[0];
  if (chain === undefined || leaf === undefined) return;
  const certInfo = {
    subject: { CN: leaf.subject },
    issuer: { CN: leaf.issuer },
    valid_from: new Date(leaf.validFrom).toUTCString(),
    valid_to: new Date(leaf.validTo).toUTCString(),
    validTo: new Date(leaf.validTo).toISOString(),
    validFor: leaf.names,
    daysRemaining: Math.trunc((leaf.validTo - context.clock.now()) / 86_400_000),
    fingerprint256: leaf.fingerprint256,
    certType: leaf.kind,
  };
  emit('certInfo', id, JSON.stringify({ valid: chain.trusted, certInfo }));
}

function sendStatusPages({ broadcast, pages }: SocketDependencies): void {
  const list = statusPageList(pages.all());
  broadcast('statusPageList', list, list);
}

async function sendDockerHosts({ broadcast, dockerHosts }: SocketDependencies): Promise<void> {
  const list = (await dockerHosts.list()).map((one) => ({ ...one, userID: 1 }));
  broadcast('dockerHostList', list, list);
}

async function sendKeys({ broadcast, keys, context }: SocketDependencies): Promise<void> {
  const list = (await keys.list()).map((key) => toKumaApiKey(key, context.clock.now()));
  broadcast('apiKeyList', [], list);
}
