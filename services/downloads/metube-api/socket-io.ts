import type { IncomingMessage } from 'node:http';
import type { Socket } from 'socket.io';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';
import { createSocketIo, type SocketIo } from '../../kit/socket-io.ts';
import { doneStates, type Item, type Progress } from '../domain/item.ts';
import type { Folders } from '../run/folders.ts';
import type { Gone, Live } from '../queue/live-updates.ts';
import type { OptionFiles } from '../add/option-files.ts';
import { prefixOf, publicBases, type Settings } from '../settings.ts';
import type { DownloadStore } from '../store/store.ts';
import type { StoredSubscription } from '../subscriptions/store.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { toRecord } from '../wire/record.ts';
import { toSubscriptionRecord } from '../wire/subscription.ts';
import { isOwn, originMatcher } from './cors.ts';

export interface SocketIoParts {
  readonly settings: Settings;
  readonly folders: Folders;
  readonly store: DownloadStore;
  readonly live: Live;
  readonly subscriptions: Subscriptions;
  readonly optionFiles: OptionFiles;
  readonly history: () => Promise<readonly Item[]>;
  /** Lets a client in. @throws Problem */
  readonly admit: (request: IncomingMessage) => Promise<void>;
  readonly log: Log;
}

export const socketPath = '/socket.io';
/** Clients have nothing to say; bytes. */
const longestMessage = 16 * 1024;
const mostClients = 200;

interface Client {
  readonly socket: Socket;
  /** Events that came while the lists were read; undefined once those are sent. */
  waiting: Waiting[] | undefined;
}

interface Waiting {
  readonly event: string;
  readonly text: string;
  /** Of the download it tells of as it stands now. */
  readonly uid: string | undefined;
}

/**
 * socket.io 4 over engine.io 4, below `/socket.io`. Each event has one argument, a JSON text: `all`, `subscriptions_all`,
 * `configuration` and `custom_dirs` for who comes, then `added`, `updated`, `completed`, `canceled` and `cleared`, and
 * `subscription_added`, `subscription_updated` and `subscription_removed`, `ytdl_options_changed` where a file has options. A download is named by its address, as
 * everywhere in the peer's protocol, a subscription by its id.
 */
export function openSocketIo(parts: SocketIoParts): SocketIo {
  const { settings, live, store, log } = parts;
  const clients = new Set<Client>();
  /** What the clients have as not done, by uid. */
  const known = new Set<string>();

  const admit = async (request: IncomingMessage): Promise<void> => {
    const { origin, host } = request.headers;
    if (origin !== undefined && !isOwn(origin, host) && !originMatcher(settings.corsAllowedOrigins)(origin)) {
      throw new Problem('downloads.foreign_origin', 403, 'Add the origin of this page to CORS_ALLOWED_ORIGINS first.');
    }
    await parts.admit(request);
    if (clients.size >= mostClients) throw new Problem('downloads.too_many_clients', 503, 'Too many live clients.');
  };

  const tell = (event: string, content: unknown, uid?: string): void => {
    if (clients.size === 0) return;
    const text = JSON.stringify(content);
    for (const { socket, waiting } of clients) {
      if (waiting === undefined) socket.emit(event, text);
      else waiting.push({ event, text, uid });
    }
  };

  const welcome = async (client: Client): Promise<void> => {
    const { folders } = parts;
    const [queue, pending, done, choices, audioChoices, subscriptions] = await Promise.all([
      store.queue(),
      store.queue(['pending']),
      parts.history(),
      folders.choices(),
      folders.choices(folders.audio),
      parts.subscriptions.list(),
    ]);
    const listed = (items: readonly Item[]): unknown[] =>
      items.map((item) => [item.url, toRecord(item, live.progressFor(item))]);
    const unfinished = [...queue, ...pending];
    const had = new Set(unfinished.map(({ uid }) => uid));
    for (const uid of had) known.add(uid);
    const send = (event: string, content: unknown): unknown => client.socket.emit(event, JSON.stringify(content));
    send('all', [listed(unfinished), listed(done)]);
    send('subscriptions_all', subscriptions.map(toSubscriptionRecord));
    send('configuration', configurationOf(settings));
    send('custom_dirs', { download_dir: choices, audio_download_dir: audioChoices });
    const { reload } = parts.optionFiles;
    if (reload !== undefined) send('ytdl_options_changed', reload);
    // Told again where the lists had it already: each event holds a whole record. It was not added since, though.
    for (const { event, text, uid } of client.waiting ?? []) {
      client.socket.emit(event === 'added' && uid !== undefined && had.has(uid) ? 'updated' : event, text);
    }
    client.waiting = undefined;
  };

  const take = (socket: Socket): void => {
    const client: Client = { socket, waiting: [] };
    clients.add(client);
    socket.on('disconnect', () => {
      clients.delete(client);
      if (clients.size === 0) known.clear();
    });
    welcome(client).catch((error: unknown) => {
      log.error('a live client was not welcomed', { error });
      socket.disconnect(true);
    });
  };

  const following = live.follow({
    changed(item: Item, progress: Progress) {
      if (clients.size === 0) return;
      tell(eventOf(item, known), toRecord(item, progress), item.uid);
    },
    removed(items: readonly Gone[]) {
      for (const { uid, url, state } of items) {
        known.delete(uid);
        tell(isDone(state) ? 'cleared' : 'canceled', url);
      }
    },
  });

  const followingFeeds = parts.subscriptions.follow({
    added: (subscription: StoredSubscription) => tell('subscription_added', toSubscriptionRecord(subscription)),
    updated: (subscription: StoredSubscription) => tell('subscription_updated', toSubscriptionRecord(subscription)),
    removed: (id: string) => tell('subscription_removed', id),
  });

  const followingOptions = parts.optionFiles.follow((reload) => tell('ytdl_options_changed', reload));

  const io = createSocketIo({
    path: prefixOf(settings).slice(0, -1) + socketPath,
    ...{ maxMessageBytes: longestMessage, admit, onConnection: take, log },
  });
  return {
    http: io.http,
    upgrade: io.upgrade,
    async [Symbol.asyncDispose]() {
      following[Symbol.dispose]();
      followingFeeds[Symbol.dispose]();
      followingOptions[Symbol.dispose]();
      await io[Symbol.asyncDispose]();
    },
  };
}

function eventOf({ uid, state }: Item, known: Set<string>): 'added' | 'updated' | 'completed' {
  if (isDone(state)) {
    known.delete(uid);
    return 'completed';
  }
  if (known.has(uid)) return 'updated';
  known.add(uid);
  return 'added';
}

function isDone(state: Item['state']): boolean {
  return (doneStates as readonly Item['state'][]).includes(state);
}

/** What the peer's page asks to know of its settings. */
function configurationOf(settings: Settings): object {
  const { chapterTemplate, allowOptionsOverrides, subscriptionInterval } = settings;
  return {
    CUSTOM_DIRS: settings.customDirs,
    CREATE_CUSTOM_DIRS: settings.createCustomDirs,
    DEFAULT_FOLDER: '',
    OUTPUT_TEMPLATE_CHAPTER: chapterTemplate,
    PUBLIC_HOST_URL: publicBases(settings).download,
    PUBLIC_HOST_AUDIO_URL: publicBases(settings).audio,
    DEFAULT_OPTION_PLAYLIST_ITEM_LIMIT: String(settings.playlistItemLimit),
    SUBSCRIPTION_DEFAULT_CHECK_INTERVAL: String(subscriptionInterval),
    ALLOW_YTDL_OPTIONS_OVERRIDES: allowOptionsOverrides,
  };
}
