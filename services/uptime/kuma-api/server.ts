import type { IncomingMessage } from 'node:http';
import type { Socket } from 'socket.io';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { accountsChanged } from '../../contracts/control/accounts.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import { createSocketIo, type SocketIo } from '../../kit/socket-io.ts';
import { formatOffset } from '../domain/time-zone.ts';
import { getAveragePing } from '../domain/tally.ts';
import type { StoredHeartbeat } from '../store/heartbeats.ts';
import type { Changes } from '../changes.ts';
import { getLastDayTally, type RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { toKumaHeartbeat, toKumaMonitor } from '../wire/kuma-monitor.ts';
import { apiKeyEvents, apiKeyList } from './api-key-events.ts';
import { dockerHostEvents } from './docker-host-events.ts';
import type { Session, SocketEvents, SocketDependencies } from './events.ts';
import { heartbeatEvents, historyDeletionEvents } from './heartbeat-events.ts';
import { maintenanceEvents, maintenanceList, maintenanceScopeEvents } from './maintenance-events.ts';
import { canWrite, monitorEvents, monitorList } from './monitor-events.ts';
import { notificationEvents, notificationList } from './notification-events.ts';
import { proxyEvents, proxyList } from './proxy-events.ts';
import { settingsEvents } from './settings-events.ts';
import { credentialsErrorCode, isStillValid, signInEvents } from './sign-in.ts';
import { pageNoteEvents, statusPageEvents, statusPageList } from './status-page-events.ts';
import { monitorTagEvents, tagEvents } from './tag-events.ts';

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

/**
 * Live protocol of Uptime Kuma, socket.io 4 over engine.io 4: each call is an event with an acknowledgement, and changes
 * are pushed to all signed-in clients.
 */
export class KumaSocket implements SocketIo {
  readonly http: SocketIo['http'];
  readonly upgrade: SocketIo['upgrade'];
  readonly #dependencies: SocketDependencies;
  readonly #events: SocketEvents;
  readonly #clients = new Set<Client>();
  readonly #io: SocketIo;
  readonly #accountsSubscription: Disposable;
  readonly #validationTimer: Disposable;

  constructor(options: Omit<SocketDependencies, 'broadcast'>, changes: Changes) {
    const { bus, clock, log } = options.context;
    this.#dependencies = {
      ...options,
      broadcast: (event, list, forWriters) => this.#broadcast(event, list, forWriters),
    };
    this.#events = createEvents(this.#dependencies);
    this.#accountsSubscription = bus.subscribe(accountsChanged, () => this.#checkSessions());
    this.#validationTimer = clock.every(validationIntervalMs, () => this.#checkSessions());
    this.#io = createSocketIo({
      path: socketPath,
      maxMessageBytes,
      admit: () => {
        if (this.#clients.size >= maxClients) throw new Problem('uptime.too_many_clients', 503, 'Too many clients');
      },
      onConnection: (socket) => this.#handleConnection(socket),
      log,
    });
    this.http = this.#io.http;
    this.upgrade = this.#io.upgrade;
    this.#follow(changes);
  }

  /** Sends changes to the clients. */
  #follow(changes: Changes): void {
    changes.on('heartbeat', (monitor, heartbeat) => this.#sendHeartbeat(monitor, heartbeat));
    changes.on('monitors', (ids) => this.#sendMonitors(ids));
    changes.on('maintenances', () => this.#sendMaintenances());
    changes.on('statusPages', () => this.#sendList(sendStatusPages));
    changes.on('dockerHosts', () => this.#sendList(sendDockerHosts));
    changes.on('proxies', () => this.#sendList(sendProxies));
    changes.on('keys', () => this.#sendList(sendKeys));
  }

  /** Sends a heartbeat and the statistics that it changes. */
  #sendHeartbeat(monitor: RuntimeMonitor, beat: StoredHeartbeat): void {
    if (this.#clients.size === 0) return;
    const heartbeatMessage = toKumaHeartbeat({ ...beat, monitorId: monitor.id });
    const recipients = this.#signedIn();
    for (const { session } of recipients) session.emit('heartbeat', heartbeatMessage);
    if (recipients.length === 0) return;
    const emit: Session['emit'] = (event, ...args) => {
      for (const { session } of recipients) session.emit(event, ...args);
    };
    void sendStatistics(this.#dependencies, monitor, emit).catch((error: unknown) =>
      this.#dependencies.context.log.error('client statistics could not be sent', { error }),
    );
  }

  /** Sends added, changed and removed monitors. */
  #sendMonitors(ids: readonly number[]): void {
    if (this.#clients.size === 0) return;
    const { monitoring, stores } = this.#dependencies;
    const { monitors } = monitoring;
    for (const { session } of this.#signedIn()) {
      const changed = ids.flatMap((id) => monitors.find(id) ?? []);
      const entries = changed.map((monitor) => [
        String(monitor.id),
        toKumaMonitor(monitor, monitors, stores.tags.all, canWrite(this.#dependencies, session)),
      ]);
      if (entries.length > 0) session.emit('updateMonitorIntoList', Object.fromEntries(entries));
      for (const id of ids) if (monitors.find(id) === undefined) session.emit('deleteMonitorFromList', id);
    }
  }

  /** Sends a list that clients cache. */
  #sendList(sendList: (dependencies: SocketDependencies) => Promise<void> | void): void {
    if (this.#clients.size === 0) return;
    void Promise.resolve(sendList(this.#dependencies)).catch((error: unknown) =>
      this.#dependencies.context.log.error('client list could not be sent', { error }),
    );
  }

  /** Sends the maintenance windows. */
  #sendMaintenances(): void {
    for (const { session } of this.#signedIn())
      session.emit('maintenanceList', maintenanceList(this.#dependencies.monitoring));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#accountsSubscription[Symbol.dispose]();
    this.#validationTimer[Symbol.dispose]();
    await this.#io[Symbol.asyncDispose]();
  }

  #signedIn(): readonly Client[] {
    return [...this.#clients].filter(({ session }) => session.signedIn);
  }

  #broadcast(event: string, list: unknown, forWriters: unknown): void {
    for (const { session } of this.#signedIn()) {
      session.emit(event, canWrite(this.#dependencies, session) ? forWriters : list);
    }
  }

  #handleConnection(socket: Socket): void {
    const { context, options } = this.#dependencies;
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
    socket.onAny((event: string, ...args: unknown[]) => void this.#handleCall(client, event, args));
    socket.on('disconnect', () => this.#clients.delete(client));
    this.#clients.add(client);
    const { timezone, publicUrl } = options.current;
    socket.emit('info', {
      primaryBaseURL: publicUrl || null,
      serverTimezone: timezone,
      serverTimezoneOffset: formatOffset(context.clock.now(), timezone),
    });
    void signInLocalClient(this.#dependencies, request, session).catch((error: unknown) =>
      context.log.error('local client sign-in failed', { error }),
    );
  }

  async #handleCall({ session, socket }: Client, name: string, callArguments: readonly unknown[]): Promise<void> {
    const last = callArguments.at(-1);
    const reply = typeof last === 'function' ? (last as (value: unknown) => void) : () => undefined;
    const args = typeof last === 'function' ? callArguments.slice(0, -1) : callArguments;
    const { context } = this.#dependencies;
    try {
      const event = Object.hasOwn(this.#events, name) ? this.#events[name] : undefined;
      if (event === undefined)
        throw new Problem('uptime.unknown_call', 404, `Homeport does not have this: ${name.slice(0, 100)}`);
      if (session.signedIn && !(await isStillValid(context, session))) {
        session.signedIn = false;
        reply({ ok: false, msg: 'You are not logged in.' });
        socket.disconnect(true);
        return;
      }
      requireAccess(this.#dependencies, session, event.needs);
      const result = await event.run(session, ...args);
      reply(typeof result === 'boolean' ? result : { ok: true, ...result });
    } catch (error) {
      if (error instanceof Problem) {
        const isKey = error.code === credentialsErrorCode;
        reply({ ok: false, msg: error.detail, ...(isKey ? { msgi18n: true } : {}) });
        return;
      }
      context.log.error('client call failed', { call: name, error });
      reply({ ok: false, msg: 'Something went wrong here. The log says more.' });
    }
  }

  #checkSessions(): void {
    void this.#disconnectInvalid().catch((error: unknown) =>
      this.#dependencies.context.log.error('client session validation failed', { error }),
    );
  }

  /** Disconnects clients whose token, session, account or grant is no longer valid. */
  async #disconnectInvalid(): Promise<void> {
    for (const { socket, session } of this.#signedIn()) {
      if (!(await isStillValid(this.#dependencies.context, session))) socket.disconnect(true);
    }
  }
}

/** Returns the calls of the protocol by name. */
function createEvents(dependencies: SocketDependencies): SocketEvents {
  return {
    ...signInEvents(dependencies.context, (session) => sendInitialLists(dependencies, session)),
    ...monitorEvents(dependencies),
    ...heartbeatEvents(dependencies),
    ...historyDeletionEvents(dependencies),
    ...tagEvents(dependencies.stores),
    ...monitorTagEvents(dependencies),
    ...dockerHostEvents(dependencies),
    ...proxyEvents(dependencies),
    ...apiKeyEvents(dependencies),
    ...settingsEvents(dependencies),
    ...statusPageEvents(dependencies),
    ...pageNoteEvents(dependencies),
    ...maintenanceEvents(dependencies),
    ...maintenanceScopeEvents(dependencies),
    ...notificationEvents(dependencies),
  };
}

/** @throws Problem */
function requireAccess(dependencies: SocketDependencies, session: Session, needs: 'nobody' | 'read' | 'write'): void {
  if (needs === 'nobody') return;
  if (!session.signedIn) throw new Problem('uptime.sign_in', 401, 'You are not logged in.');
  if (needs === 'write' && !canWrite(dependencies, session)) {
    throw new Problem('uptime.forbidden', 403, 'This account may not change the uptime monitor.');
  }
}

/** Signs in local clients while no account exists, except for clients of the network, whose requests a gateway sends. */
async function signInLocalClient(
  dependencies: SocketDependencies,
  request: IncomingMessage,
  session: Session,
): Promise<void> {
  if (isGatewayRequest(request)) return;
  const address = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (session.foreignSite || (address !== '::1' && !address.startsWith('127.'))) return;
  if ((await dependencies.context.accounts.list()).length > 0) return;
  session.signedIn = true;
  await sendInitialLists(dependencies, session);
  session.emit('autoLogin');
}

/** Sends the lists that clients cache; the details of each monitor follow asynchronously. */
async function sendInitialLists(dependencies: SocketDependencies, session: Session): Promise<void> {
  const { options, pages, stores, context } = dependencies;
  session.emit('monitorList', monitorList(dependencies, session));
  const { timezone, publicUrl } = options.current;
  session.emit('info', {
    version: kumaVersion,
    latestVersion: kumaVersion,
    isContainer: false,
    dbType: 'sqlite',
    runtime: { platform: currentPlatform, arch: process.arch },
    primaryBaseURL: publicUrl || null,
    serverTimezone: timezone,
    serverTimezoneOffset: formatOffset(dependencies.context.clock.now(), timezone),
  });
  session.emit('maintenanceList', maintenanceList(dependencies.monitoring));
  session.emit('notificationList', notificationList(dependencies.stores, canWrite(dependencies, session)));
  session.emit('proxyList', proxyList(stores, canWrite(dependencies, session)));
  session.emit(
    'dockerHostList',
    (await stores.dockerHosts.list()).map((one) => ({ ...one, userID: 1 })),
  );
  session.emit(
    'apiKeyList',
    canWrite(dependencies, session) ? await apiKeyList(dependencies.stores.keys, dependencies.context) : [],
  );
  session.emit('remoteBrowserList', []);
  session.emit('statusPageList', statusPageList(pages.all()));
  void sendMonitorDetails(dependencies, session).catch((error: unknown) =>
    context.log.error('client details could not be sent', { error }),
  );
}

async function sendMonitorDetails(dependencies: SocketDependencies, { emit }: Session): Promise<void> {
  for (const monitor of dependencies.monitoring.monitors.all()) {
    const list = (await dependencies.stores.heartbeats.list(monitor.id, { limit: initialHeartbeats })).toReversed();
    emit('heartbeatList', String(monitor.id), list.map(toKumaHeartbeat), true);
    await sendStatistics(dependencies, monitor, emit);
  }
}

/** Sends the statistics of a monitor, as Uptime Kuma does after each heartbeat. */
async function sendStatistics(
  { monitoring: { statistics }, context }: SocketDependencies,
  monitor: RuntimeMonitor,
  emit: Session['emit'],
): Promise<void> {
  const { id, chain } = monitor;
  const ping = getAveragePing(getLastDayTally(monitor, context.clock.now()));
  emit('avgPing', id, ping === null ? null : Math.round(ping));
  emit('uptime', id, 24, await statistics.getUptimeRatio(monitor, 24));
  emit('uptime', id, 720, await statistics.getUptimeRatio(monitor, 720));
  emit('uptime', id, '1y', await statistics.getUptimeRatio(monitor, 8760));
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

async function sendDockerHosts({ broadcast, stores: { dockerHosts } }: SocketDependencies): Promise<void> {
  const list = (await dockerHosts.list()).map((one) => ({ ...one, userID: 1 }));
  broadcast('dockerHostList', list, list);
}

function sendProxies({ broadcast, stores }: SocketDependencies): void {
  broadcast('proxyList', proxyList(stores, false), proxyList(stores, true));
}

async function sendKeys(dependencies: SocketDependencies): Promise<void> {
  dependencies.broadcast('apiKeyList', [], await apiKeyList(dependencies.stores.keys, dependencies.context));
}
