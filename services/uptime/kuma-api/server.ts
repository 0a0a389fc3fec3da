import type { IncomingMessage } from 'node:http';
import type { Socket } from 'socket.io';
import { accountsChanged } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { createSocketIo, type SocketIo } from '../../kit/socket-io.ts';
import { offsetText } from '../domain/time-zone.ts';
import { averagePing } from '../domain/tally.ts';
import type { StoredBeat } from '../store/heartbeats.ts';
import { lastDay, type Watched } from '../monitoring/monitor-state.ts';
import { peerBeat, peerMonitor } from '../wire/kuma-monitor.ts';
import type { Session, SocketEvents, SocketParts } from './events.ts';
import { maintenanceEvents, maintenanceList } from './maintenance-events.ts';
import { mayWrite, monitorEvents, monitorList } from './monitor-events.ts';
import { otherEvents, pageEvents, peerKey, statusPageList } from './other-events.ts';
import { notificationEvents, notificationList } from './notification-events.ts';
import { isStillValid, signInEvents } from './sign-in.ts';

export const socketPath = '/socket.io';
/** Large enough for a status page with its icon. */
const longestMessage = 4 * 1024 * 1024;
const mostClients = 200;
const shownBeats = 100;
/** Interval at which credentials are verified; a call verifies them immediately when the last check is older. */
const validityMs = 5000;
/** Version of Uptime Kuma that is reported to clients. */
const peerVersion = '2.5.3';

interface Client {
  readonly socket: Socket;
  readonly session: Session;
}

/** Live protocol of Uptime Kuma. */
export interface UptimeSocket extends SocketIo {
  readonly beaten: (watched: Watched, beat: StoredBeat) => void;
  /** Sends added, changed and removed monitors. */
  readonly changed: (ids: readonly number[]) => void;
  /** Sends a list that clients cache. */
  readonly listChanged: (list: 'statusPages' | 'dockerHosts' | 'keys') => void;
  /** Sends the maintenance windows. */
  readonly maintenanceChanged: () => void;
}

/**
 * Opens socket.io 4 over engine.io 4: each call is an event with an acknowledgement, and changes are pushed to all
 * signed-in clients.
 */
export function openSocket(given: Omit<SocketParts, 'broadcast'>): UptimeSocket {
  const { context, monitors } = given;
  const { log } = context;
  const clients = new Set<Client>();
  const signedIn = (): readonly Client[] => [...clients].filter(({ session }) => session.signedIn);
  const parts: SocketParts = {
    ...given,
    broadcast(event, list, forWriters) {
      for (const { session } of signedIn()) session.emit(event, mayWrite(parts, session) ? forWriters : list);
    },
  };
  const events: SocketEvents = {
    ...signInEvents(context, (session) => welcome(parts, session)),
    ...monitorEvents(parts),
    ...otherEvents(parts),
    ...pageEvents(parts),
    ...maintenanceEvents(parts),
    ...notificationEvents(parts),
  };

  const take = (socket: Socket): void => {
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
    socket.onAny((event: string, ...args: unknown[]) => void answer({ parts, events, client }, event, args));
    socket.on('disconnect', () => clients.delete(client));
    clients.add(client);
    const { timezone, publicUrl } = parts.options.current;
    socket.emit('info', {
      primaryBaseURL: publicUrl || null,
      serverTimezone: timezone,
      serverTimezoneOffset: offsetText(parts.context.clock.now(), timezone),
    });
    void admitOwn(parts, request, session).catch((error: unknown) => log.error('a client was not welcomed', { error }));
  };

  /** Disconnects clients whose token, session, account or grant is no longer valid. */
  const endInvalid = async (): Promise<void> => {
    for (const { socket, session } of signedIn()) {
      if (!(await isStillValid(context, session))) socket.disconnect(true);
    }
  };
  const endInvalidSoon = (): void =>
    void endInvalid().catch((error: unknown) => log.error('live clients could not be checked', { error }));
  const following = context.bus.subscribe(accountsChanged, endInvalidSoon);
  const checking = context.clock.every(validityMs, endInvalidSoon);

  const io = createSocketIo({
    path: socketPath,
    maxMessageBytes: longestMessage,
    admit() {
      if (clients.size >= mostClients) throw new Problem('uptime.too_many_clients', 503, 'Too many clients');
    },
    onConnection: take,
    log,
  });
  return {
    http: io.http,
    upgrade: io.upgrade,
    beaten(watched, beat) {
      if (clients.size === 0) return;
      const told = peerBeat({ ...beat, monitorId: watched.id });
      const recipients = signedIn();
      for (const { session } of recipients) session.emit('heartbeat', told);
      if (recipients.length === 0) return;
      const emit: Session['emit'] = (event, ...args) => {
        for (const { session } of recipients) session.emit(event, ...args);
      };
      void tellFigures(parts, watched, emit).catch((error: unknown) =>
        log.error('figures could not be sent to live clients', { error }),
      );
    },
    changed(ids) {
      if (clients.size === 0) return;
      for (const { session } of signedIn()) {
        const changed = ids.flatMap((id) => monitors.find(id) ?? []);
        const shown = changed.map((watched) => [
          String(watched.id),
          peerMonitor(watched, monitors, parts.tags.known, mayWrite(parts, session)),
        ]);
        if (shown.length > 0) session.emit('updateMonitorIntoList', Object.fromEntries(shown));
        for (const id of ids) if (monitors.find(id) === undefined) session.emit('deleteMonitorFromList', id);
      }
    },
    listChanged(list) {
      if (clients.size === 0) return;
      const sendList = list === 'statusPages' ? sendStatusPages : list === 'dockerHosts' ? sendDockerHosts : sendKeys;
      void Promise.resolve(sendList(parts)).catch((error: unknown) => log.error('a list could not be sent', { error }));
    },
    maintenanceChanged() {
      for (const { session } of signedIn()) session.emit('maintenanceList', maintenanceList(parts));
    },
    async [Symbol.asyncDispose]() {
      following[Symbol.dispose]();
      checking[Symbol.dispose]();
      await io[Symbol.asyncDispose]();
    },
  };
}

async function answer(
  { parts, events, client }: { readonly parts: SocketParts; readonly events: SocketEvents; readonly client: Client },
  name: string,
  given: readonly unknown[],
): Promise<void> {
  const { session, socket } = client;
  const last = given.at(-1);
  const reply = typeof last === 'function' ? (last as (value: unknown) => void) : () => undefined;
  const args = typeof last === 'function' ? given.slice(0, -1) : given;
  try {
    const event = Object.hasOwn(events, name) ? events[name] : undefined;
    if (event === undefined)
      throw new Problem('uptime.unknown_call', 404, `Homeport does not have this: ${name.slice(0, 100)}`);
    if (session.signedIn && !(await isStillValid(parts.context, session))) {
      session.signedIn = false;
      reply({ ok: false, msg: 'You are not logged in.' });
      socket.disconnect(true);
      return;
    }
    requireAccess(parts, session, event.needs);
    const answered = await event.run(session, ...args);
    reply(typeof answered === 'boolean' ? answered : { ok: true, ...answered });
  } catch (error) {
    if (error instanceof Problem) {
      const isKey = /^[a-z]+([A-Z][a-z]*)+$/.test(error.detail);
      reply({ ok: false, msg: error.detail, ...(isKey ? { msgi18n: true } : {}) });
      return;
    }
    parts.context.log.error('a call of a live client failed', { call: name, error });
    reply({ ok: false, msg: 'Something went wrong here. The log says more.' });
  }
}

/** @throws Problem */
function requireAccess(parts: SocketParts, session: Session, needs: 'nobody' | 'read' | 'write'): void {
  if (needs === 'nobody') return;
  if (!session.signedIn) throw new Problem('uptime.sign_in', 401, 'You are not logged in.');
  if (needs === 'write' && !mayWrite(parts, session)) {
    throw new Problem('uptime.forbidden', 403, 'This account may not change the uptime monitor.');
  }
}

/** Signs in local clients while no account exists. */
async function admitOwn(parts: SocketParts, { socket }: IncomingMessage, session: Session): Promise<void> {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (session.foreignSite || (address !== '::1' && !address.startsWith('127.'))) return;
  if ((await parts.context.accounts.list()).length > 0) return;
  session.signedIn = true;
  await welcome(parts, session);
  session.emit('autoLogin');
}

/** Sends the lists that clients cache; the details of each monitor follow asynchronously. */
async function welcome(parts: SocketParts, session: Session): Promise<void> {
  const { options, pages, dockerHosts, keys, context } = parts;
  session.emit('monitorList', monitorList(parts, session));
  const { timezone, publicUrl } = options.current;
  session.emit('info', {
    version: peerVersion,
    latestVersion: peerVersion,
    isContainer: false,
    dbType: 'sqlite',
    runtime: { platform: process.platform, arch: process.arch },
    primaryBaseURL: publicUrl || null,
    serverTimezone: timezone,
    serverTimezoneOffset: offsetText(parts.context.clock.now(), timezone),
  });
  session.emit('maintenanceList', maintenanceList(parts));
  session.emit('notificationList', notificationList(parts, mayWrite(parts, session)));
  session.emit('proxyList', []);
  session.emit(
    'dockerHostList',
    (await dockerHosts.list()).map((one) => ({ ...one, userID: 1 })),
  );
  session.emit(
    'apiKeyList',
    mayWrite(parts, session) ? (await keys.list()).map((key) => peerKey(key, context.clock.now())) : [],
  );
  session.emit('remoteBrowserList', []);
  session.emit('statusPageList', statusPageList(pages.all()));
  void tellEach(parts, session).catch((error: unknown) => context.log.error('a client was told half', { error }));
}

async function tellEach(parts: SocketParts, { emit }: Session): Promise<void> {
  for (const watched of parts.monitors.all()) {
    const list = (await parts.beats.list(watched.id, { limit: shownBeats })).toReversed();
    emit('heartbeatList', String(watched.id), list.map(peerBeat), true);
    await tellFigures(parts, watched, emit);
  }
}

/** Sends the statistics of a monitor, as Uptime Kuma does after each heartbeat. */
async function tellFigures({ figures, context }: SocketParts, watched: Watched, emit: Session['emit']): Promise<void> {
  const { id, chain } = watched;
  const ping = averagePing(lastDay(watched, context.clock.now()));
  emit('avgPing', id, ping === null ? null : Math.round(ping));
  emit('uptime', id, 24, await figures.ratio(watched, 24));
  emit('uptime', id, 720, await figures.ratio(watched, 720));
  emit('uptime', id, '1y', await figures.ratio(watched, 8760));
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

function sendStatusPages({ broadcast, pages }: SocketParts): void {
  const list = statusPageList(pages.all());
  broadcast('statusPageList', list, list);
}

async function sendDockerHosts({ broadcast, dockerHosts }: SocketParts): Promise<void> {
  const list = (await dockerHosts.list()).map((one) => ({ ...one, userID: 1 }));
  broadcast('dockerHostList', list, list);
}

async function sendKeys({ broadcast, keys, context }: SocketParts): Promise<void> {
  const list = (await keys.list()).map((key) => peerKey(key, context.clock.now()));
  broadcast('apiKeyList', [], list);
}
