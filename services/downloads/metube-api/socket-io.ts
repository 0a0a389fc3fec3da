import type { IncomingMessage } from 'node:http';
import type { Socket } from 'socket.io';
import { Problem } from '../../contracts/problem.ts';
import { accountsChanged } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { createSocketIo, type SocketIo } from '../../kit/socket-io.ts';
import { doneStates, type Item, type Progress } from '../domain/item.ts';
import type { Folders } from '../files/folders.ts';
import type { RemovedItem, LiveUpdates } from '../reporting/live-updates.ts';
import type { OptionFiles } from '../add/option-files.ts';
import type { Settings } from '../settings.ts';
import { getPathPrefix, getPublicBases } from '../settings/public-paths.ts';
import type { DownloadStore } from '../store/store.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { toRecord } from '../wire/record.ts';
import { toSubscriptionRecord } from '../wire/subscription.ts';
import { isSameOrigin, createOriginMatcher } from './cors.ts';

/** Downloads that clients receive when they connect, and their changes. */
export interface LiveDownloads {
  readonly store: DownloadStore;
  readonly live: LiveUpdates;
  readonly history: () => Promise<readonly Item[]>;
}

export interface SocketIoDependencies {
  readonly settings: Settings;
  readonly folders: Folders;
  readonly downloads: LiveDownloads;
  readonly subscriptions: Subscriptions;
  readonly optionFiles: OptionFiles;
  /**
   * Authorizes a client. Returns a check of whether it is still authorized.
   * @throws Problem
   */
  readonly admit: (request: IncomingMessage) => Promise<() => boolean>;
  readonly context: Pick<Context, 'bus' | 'clock' | 'log'>;
}

export const socketPath = '/socket.io';
/** Maximum size of a message from a client in bytes; clients do not send any. */
const maxMessageBytes = 16 * 1024;
const maxClients = 200;
/** Interval at which the access of clients is checked, since the expiry of a token is not announced. */
const accessCheckIntervalMs = 5000;

interface Client {
  readonly socket: Socket;
  readonly isAdmitted: () => boolean;
  /** Events during the initial lists; undefined after those were sent. */
  pending: PendingEvent[] | undefined;
}

interface PendingEvent {
  readonly event: string;
  readonly text: string;
  /** Uid of the download in the event. */
  readonly uid: string | undefined;
}

/**
 * Socket.IO 4 server (engine.io 4) at `/socket.io`. Each event has one argument, a JSON text: `all`,
 * `subscriptions_all`, `configuration` and `custom_dirs` for a new client, then `added`, `updated`, `completed`,
 * `canceled` and `cleared`, `subscription_added`, `subscription_updated` and `subscription_removed`, and
 * `ytdl_options_changed` with an option file. As in MeTube's protocol, a download is identified by its address, a
 * subscription by its id.
 */
export class DownloadsSocketIo implements SocketIo {
  readonly http: SocketIo['http'];
  readonly upgrade: SocketIo['upgrade'];
  readonly #dependencies: SocketIoDependencies;
  readonly #io: SocketIo;
  readonly #clients = new Set<Client>();
  readonly #admissions = new WeakMap<IncomingMessage, () => boolean>();
  /** Uids of the open downloads that the clients have received. */
  readonly #openUids = new Set<string>();
  readonly #subscriptions: readonly Disposable[];

  constructor(deps: SocketIoDependencies) {
    const { bus, clock, log } = deps.context;
    this.#dependencies = deps;
    this.#subscriptions = [
      bus.subscribe(accountsChanged, () => this.#disconnectRevoked()),
      clock.every(accessCheckIntervalMs, () => this.#disconnectRevoked()),
      this.#subscribeToDownloads(),
      this.#subscribeToSubscriptions(),
      deps.optionFiles.subscribe((reload) => this.#broadcast('ytdl_options_changed', reload)),
    ];
    this.#io = createSocketIo({
      path: getPathPrefix(deps.settings).slice(0, -1) + socketPath,
      maxMessageBytes,
      admit: (request) => this.#admit(request),
      onConnection: (socket) => this.#connect(socket),
      log,
    });
    this.http = this.#io.http;
    this.upgrade = this.#io.upgrade;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#io[Symbol.asyncDispose]();
  }

  #subscribeToDownloads(): Disposable {
    return this.#dependencies.downloads.live.subscribe({
      changed: (item: Item, progress: Progress) => {
        if (this.#clients.size === 0) return;
        this.#broadcast(getEvent(item, this.#openUids), toRecord(item, progress), item.uid);
      },
      removed: (items: readonly RemovedItem[]) => {
        for (const { uid, url, state } of items) {
          this.#openUids.delete(uid);
          this.#broadcast(isDone(state) ? 'cleared' : 'canceled', url);
        }
      },
    });
  }

  #subscribeToSubscriptions(): Disposable {
    return this.#dependencies.subscriptions.subscribe({
      added: (subscription) => this.#broadcast('subscription_added', toSubscriptionRecord(subscription)),
      updated: (subscription) => this.#broadcast('subscription_updated', toSubscriptionRecord(subscription)),
      removed: (id) => this.#broadcast('subscription_removed', id),
    });
  }

  async #admit(request: IncomingMessage): Promise<void> {
    const { admit, settings } = this.#dependencies;
    const { origin, host } = request.headers;
    if (
      origin !== undefined &&
      !isSameOrigin(origin, host) &&
      !createOriginMatcher(settings.corsAllowedOrigins)(origin)
    ) {
      throw new Problem('downloads.foreign_origin', 403, 'Add the origin of this page to CORS_ALLOWED_ORIGINS first.');
    }
    this.#admissions.set(request, await admit(request));
    if (this.#clients.size >= maxClients)
      throw new Problem('downloads.too_many_clients', 503, 'Too many live clients.');
  }

  #connect(socket: Socket): void {
    const isAdmitted = this.#admissions.get(socket.request) ?? (() => false);
    const client: Client = { socket, isAdmitted, pending: [] };
    this.#clients.add(client);
    socket.on('disconnect', () => {
      this.#clients.delete(client);
      if (this.#clients.size === 0) this.#openUids.clear();
    });
    this.#sendInitialState(client).catch((error: unknown) => {
      this.#dependencies.context.log.error('initial state of a live client not sent', { error });
      socket.disconnect(true);
    });
  }

  /** Disconnects clients whose token, account or grant is no longer valid. */
  #disconnectRevoked(): void {
    for (const { socket, isAdmitted } of this.#clients) if (!isAdmitted()) socket.disconnect(true);
  }

  #broadcast(event: string, content: unknown, uid?: string): void {
    if (this.#clients.size === 0) return;
    const text = JSON.stringify(content);
    for (const { socket, pending } of this.#clients) {
      if (pending === undefined) socket.emit(event, text);
      else pending.push({ event, text, uid });
    }
  }

  async #sendInitialState(client: Client): Promise<void> {
    const { folders, optionFiles, settings, subscriptions } = this.#dependencies;
    const { history, live, store } = this.#dependencies.downloads;
    const [queue, pending, done, choices, audioChoices, allSubscriptions] = await Promise.all([
      store.queue(),
      store.queue(['pending']),
      history(),
      folders.list(),
      folders.list(folders.audio),
      subscriptions.list(),
    ]);
    const toEntries = (items: readonly Item[]): unknown[] =>
      items.map((item) => [item.url, toRecord(item, live.getItemProgress(item))]);
    const unfinished = [...queue, ...pending];
    const sentUids = new Set(unfinished.map(({ uid }) => uid));
    for (const uid of sentUids) this.#openUids.add(uid);
    const emit = (event: string, content: unknown): unknown => client.socket.emit(event, JSON.stringify(content));
    emit('all', [toEntries(unfinished), toEntries(done)]);
    emit('subscriptions_all', allSubscriptions.map(toSubscriptionRecord));
    emit('configuration', getConfiguration(settings));
    emit('custom_dirs', { download_dir: choices, audio_download_dir: audioChoices });
    const { reload } = optionFiles;
    if (reload !== undefined) emit('ytdl_options_changed', reload);
    sendPendingEvents(client, sentUids);
  }
}

/**
 * Sends the events that occurred while the lists were read. They may repeat entries of the lists: each contains a
 * complete record. An entry of the lists is updated instead of added.
 */
function sendPendingEvents(client: Client, sentUids: ReadonlySet<string>): void {
  for (const { event, text, uid } of client.pending ?? []) {
    client.socket.emit(event === 'added' && uid !== undefined && sentUids.has(uid) ? 'updated' : event, text);
  }
  client.pending = undefined;
}

function getEvent({ uid, state }: Item, openUids: Set<string>): 'added' | 'updated' | 'completed' {
  if (isDone(state)) {
    openUids.delete(uid);
    return 'completed';
  }
  if (openUids.has(uid)) return 'updated';
  openUids.add(uid);
  return 'added';
}

function isDone(state: Item['state']): boolean {
  return (doneStates as readonly Item['state'][]).includes(state);
}

/** Returns the settings that MeTube's page uses. */
function getConfiguration(settings: Settings): object {
  const { chapterTemplate, allowOptionsOverrides, subscriptionInterval } = settings;
  return {
    CUSTOM_DIRS: settings.customDirs,
    CREATE_CUSTOM_DIRS: settings.createCustomDirs,
    DEFAULT_FOLDER: '',
    OUTPUT_TEMPLATE_CHAPTER: chapterTemplate,
    PUBLIC_HOST_URL: getPublicBases(settings).download,
    PUBLIC_HOST_AUDIO_URL: getPublicBases(settings).audio,
    DEFAULT_OPTION_PLAYLIST_ITEM_LIMIT: String(settings.playlistItemLimit),
    SUBSCRIPTION_DEFAULT_CHECK_INTERVAL: String(subscriptionInterval),
    ALLOW_YTDL_OPTIONS_OVERRIDES: allowOptionsOverrides,
  };
}
