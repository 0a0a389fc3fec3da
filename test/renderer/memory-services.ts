import * as m from '#messages/downloads-problems';
import { findFailureCode } from '../../services/downloads/domain/engine-messages.ts';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { registry } from '../../main/host/services/registry.ts';
import { FileReply, implement } from '../../services/contracts/api.ts';
import type { FailureCode } from '../../services/contracts/downloads/causes.ts';
import type { Bus } from '../../services/contracts/bus.ts';
import {
  downloadChanged,
  downloadRemoved,
  downloadsApi,
  downloadsMoved,
  downloadsPaused,
  type Captions,
  type Download,
  type DownloadOptions,
  type QueueChange,
} from '../../services/contracts/downloads/api.ts';
import { downloadLimitsChanged, type CurrentLimits } from '../../services/contracts/downloads/limits.ts';
import type { DownloadPreview } from '../../services/contracts/downloads/preview.ts';
import { inboxAdded, inboxApi, inboxChanged, inboxRead, type InboxItem } from '../../services/contracts/inbox/api.ts';
import { Problem } from '../../services/contracts/problem.ts';
import { defineService, type Context, type Service, type ServiceDescriptor } from '../../services/contracts/service.ts';
import type { Health } from '../../services/contracts/health.ts';

/** An in-memory inbox behind the contracts of the real API: tests add rows and the pages show them. */
export class MemoryInbox {
  items: InboxItem[] = [];
  bus: Bus | undefined;
  /** State before each change. */
  readonly #before: (readonly (readonly [number, Pick<InboxItem, 'read' | 'done'>])[])[] = [];

  /** Adds a row that arrives now. */
  add(fields: Partial<InboxItem> = {}): InboxItem {
    const id = (this.items[0]?.id ?? 0) + 1;
    const item: InboxItem = {
      id,
      title: `Message ${String(id)}`,
      body: 'Body',
      format: 'text',
      priority: 3,
      tags: [],
      source: 'mail',
      topic: 'aggregator',
      link: null,
      time: Date.now(),
      read: false,
      done: false,
      ...fields,
    };
    this.items.unshift(item);
    this.bus?.publish(inboxAdded, item);
    return item;
  }

  get unread(): number {
    return this.items.filter(({ read, done }) => !read && !done).length;
  }

  #having(q: string): readonly InboxItem[] {
    const queryWords = q.toLowerCase().split(/\s+/).filter(Boolean);
    return this.items.filter((item) =>
      queryWords.every((word) => `${item.title} ${item.body}`.toLowerCase().includes(word)),
    );
  }

  readonly descriptor: ServiceDescriptor = plainService(
    'inbox',
    'Inbox',
    'Everything that was told to you.',
    (bus, context) => {
      this.bus = bus;
      context.handovers.receive(inboxRead, ({ ids }) => {
        for (const item of this.items.filter(({ id }) => ids.includes(id))) item.read = true;
        bus.publish(inboxChanged, { ids, change: { read: true }, unread: this.unread });
        return Promise.resolve();
      });
      return [
        implement(inboxApi.list, ({ query }) => {
          const matching = this.#having(query.q ?? '').filter(
            (item) =>
              (query.source === undefined || item.source === query.source) &&
              (query.topic === undefined || item.topic === query.topic) &&
              (query.tag === undefined || item.tags.includes(query.tag)) &&
              item.priority >= (query.minPriority ?? 1) &&
              (query.unread !== true || !item.read) &&
              (query.done === undefined || item.done === query.done),
          );
          const { before = Infinity, limit } = query;
          const items = matching.filter(({ id }) => id < before).slice(0, limit);
          const sources = [...new Set(this.items.map(({ source }) => source))].sort();
          return { items, unread: this.unread, total: matching.length, sources };
        }),
        implement(inboxApi.find, ({ query: { q, limit } }) => ({
          items: q.trim() === '' ? [] : this.#having(q).slice(0, limit),
        })),
        implement(inboxApi.unreadTopics, () => {
          const unread = this.items.filter(({ topic, read, done }) => topic !== '' && !read && !done);
          return {
            topics: [...Map.groupBy(unread, ({ topic }) => topic)].map(([topic, rows]) => ({
              topic,
              count: rows.length,
              priority: Math.max(...rows.map(({ priority }) => priority)),
            })),
          };
        }),
        implement(inboxApi.one, ({ params }) => {
          const item = this.items.find(({ id }) => String(id) === params['id']);
          if (!item) throw new Problem('inbox.unknown', 404, 'There is no such message.');
          return item;
        }),
        implement(inboxApi.undo, ({ body: { change } }) => {
          const before = this.#before[change] ?? [];
          for (const [id, was] of before) Object.assign(this.items.find((item) => item.id === id) ?? {}, was);
          bus.publish(inboxChanged, { ids: [], change: {}, unread: this.unread });
          return { changed: before.length, unread: this.unread };
        }),
        implement(inboxApi.change, ({ body: { ids, read, done } }) => {
          const chosen = this.items.filter(({ id }) => ids === 'all' || ids.includes(id));
          const change = this.#before.length;
          this.#before.push(chosen.map((item) => [item.id, { read: item.read, done: item.done }] as const));
          for (const item of chosen) Object.assign(item, withDefined({ read, done }));
          const changed = chosen.map(({ id }) => id);
          bus.publish(inboxChanged, { ids: changed, change: withDefined({ read, done }), unread: this.unread });
          return { changed: changed.length, unread: this.unread, change };
        }),
        implement(inboxApi.remove, ({ body: { ids } }) => {
          this.items = this.items.filter(({ id }) => !ids.includes(id));
          bus.publish(inboxChanged, { ids, change: { removed: true }, unread: this.unread });
          return { removed: ids.length, unread: this.unread };
        }),
      ];
    },
  );
}

/** Download queue that changes only on request of the test. */
export class MemoryDownloads {
  readonly all = new Map<string, Download>();
  paused = false;
  /** Added downloads. */
  readonly added: ({ readonly url: string } & DownloadOptions)[] = [];
  /** Preview of any link. */
  preview: DownloadPreview = {
    title: 'A video',
    author: '',
    duration: 61,
    entries: null,
    heights: [],
    chapters: false,
    subtitles: [],
    live: false,
    picture: null,
  };
  previewError = '';
  /** Rejected links with their reasons. */
  readonly refused = new Map<string, string>();
  folders: string[] = [];
  presets: string[] = [];
  limits: CurrentLimits = { limits: { speed: null, hours: [] }, open: true, changesAt: null };
  /** Downloads whose files were deleted. */
  readonly deleted: string[] = [];
  /** Downloads that were requested again. */
  readonly agains: string[] = [];
  captions: Captions[] = [];
  /** Downloads that were started. */
  readonly starts: { uids: readonly string[]; anyway: boolean }[] = [];
  /** Requests of the reorder route. */
  readonly moves: { uids: readonly string[]; before: string | null }[] = [];
  /** Thrown by the reorder route while set. */
  refusal: Problem | undefined;
  /** File that the routes of thumbnails and finished files send. */
  picture = fileURLToPath(new URL('../../assets/icon.png', import.meta.url));
  film = '';
  bus: Bus | undefined;

  /** Adds a download or changes some of its fields. */
  set(uid: string, fields: Partial<Download>): void {
    const before: Download = this.all.get(uid) ?? {
      uid,
      url: `https://videos.example/${uid}`,
      title: '',
      state: 'pending',
      quality: 'best',
      format: 'any',
      stream: null,
      thumbnail: false,
      percent: null,
      speed: null,
      eta: null,
      size: null,
      filename: null,
      message: null,
      createdAt: Date.now(),
      finishedAt: null,
    };
    const current = { ...before, ...fields };
    const failure = current.state === 'failed' ? (fields.failure ?? findFailureCode(current.message ?? '')) : undefined;
    const download = { ...current, failure };
    this.all.set(uid, download);
    this.bus?.publish(downloadChanged, download);
  }

  #setPaused(uids: readonly string[] | undefined, pause: boolean): QueueChange {
    if (uids === undefined) {
      this.paused = pause;
      this.bus?.publish(downloadsPaused, { paused: pause });
    }
    const changed = [...this.all.values()].filter(({ uid, state }) =>
      pause
        ? (uids?.includes(uid) ?? ['downloading', 'preparing', 'postprocessing'].includes(state))
        : state === 'paused' && (uids?.includes(uid) ?? true),
    );
    for (const { uid } of changed) this.set(uid, { state: pause ? 'paused' : 'waiting', speed: null, eta: null });
    return { uids: changed.map(({ uid }) => uid), unknown: [], over: [], paused: this.paused };
  }

  readonly descriptor: ServiceDescriptor = plainService('downloads', 'Downloads', 'Fetches videos.', (bus) => {
    this.bus = bus;
    return [
      implement(downloadsApi.list, ({ query: { q = '', limit, offset, state, kind } }) => {
        const all = [...this.all.values()];
        const over = ({ state }: Download): boolean => state === 'finished' || state === 'failed';
        const isRequested = (one: Download): boolean =>
          (state === undefined || one.state === state) && (kind === undefined || one.kind === kind);
        const matching = all
          .filter((one) => over(one) && isRequested(one) && one.title.toLowerCase().includes(q.toLowerCase()))
          .reverse();
        return {
          queue: all.filter((one) => !over(one)),
          history: matching.slice(offset, offset + limit),
          total: matching.length,
          paused: this.paused,
        };
      }),
      implement(downloadsApi.add, ({ body }) => {
        const { url } = body;
        this.added.push(body);
        const why = this.refused.get(url);
        if (why !== undefined) {
          const failure = findRefusalCode(why);
          throw new Problem('downloads.not_added', 422, why, { fields: failure === undefined ? {} : { failure } });
        }
        if (!URL.canParse(url)) {
          throw new Problem('downloads.bad_url', 422, 'This is not an address. It begins with https:// or http://.');
        }
        const uid = `added-${String(this.all.size + 1)}`;
        this.set(uid, { url, state: 'preparing' });
        return { uids: [uid] };
      }),
      implement(downloadsApi.preview, () => ({
        preview: this.previewError === '' ? this.preview : null,
        reason: this.previewError,
        failure: findRefusalCode(this.previewError),
      })),
      implement(downloadsApi.choices, () => ({ folders: this.folders, presets: this.presets })),
      implement(downloadsApi.again, ({ body: { uid } }) => {
        this.agains.push(uid);
        return { uids: [] };
      }),
      implement(downloadsApi.one, ({ params }) => {
        const download = this.all.get(params['uid'] ?? '');
        if (download === undefined) throw new Problem('downloads.unknown', 404, m.downloadNotFound());
        return download;
      }),
      implement(downloadsApi.captions, () => ({ captions: this.captions })),
      implement(downloadsApi.start, ({ body: { uids, anyway = false } }) => {
        this.starts.push({ uids, anyway });
        for (const uid of uids) this.set(uid, { state: 'waiting', ...(anyway ? { anyway } : {}) });
        return { started: uids.length };
      }),
      implement(downloadsApi.limits, () => this.limits),
      implement(downloadsApi.setLimits, ({ body }) => {
        this.limits = { ...this.limits, limits: body };
        bus.publish(downloadLimitsChanged, this.limits);
        return this.limits;
      }),
      implement(downloadsApi.remove, ({ body: { uids, files = false } }) => {
        for (const uid of uids) {
          if (files) this.deleted.push(uid);
          this.all.delete(uid);
          bus.publish(downloadRemoved, { uid });
        }
        return { removed: uids.length };
      }),
      implement(downloadsApi.retry, ({ body: { uid } }) => {
        this.set(uid, { state: 'pending', message: null, finishedAt: null });
        return { uid };
      }),
      implement(downloadsApi.retryAll, ({ body: { uids } }) => {
        for (const uid of uids) this.set(uid, { state: 'waiting', message: null, finishedAt: null });
        return { retried: uids.length };
      }),
      implement(downloadsApi.ended, ({ query: { state } }) => ({
        downloads: [...this.all.values()]
          .filter((one) => (state === undefined ? ['finished', 'failed'].includes(one.state) : one.state === state))
          .reverse(),
      })),
      implement(downloadsApi.pause, ({ body: { uids } }) => this.#setPaused(uids, true)),
      implement(downloadsApi.resume, ({ body: { uids } }) => this.#setPaused(uids, false)),
      implement(downloadsApi.reorder, ({ body: { uids, before } }) => {
        if (this.refusal !== undefined) throw this.refusal;
        this.moves.push({ uids, before: before ?? null });
        const rows = [...this.all].filter(([uid]) => !uids.includes(uid));
        const index = before === undefined ? rows.length : rows.findIndex(([uid]) => uid === before);
        rows.splice(index, 0, ...[...this.all].filter(([uid]) => uids.includes(uid)));
        this.all.clear();
        for (const [uid, download] of rows) this.all.set(uid, download);
        bus.publish(downloadsMoved, { uids, before: before ?? null });
        return { uids, unknown: [] };
      }),
      implement(downloadsApi.thumbnail, () => new FileReply({ path: this.picture, type: 'image/png' })),
      implement(downloadsApi.file, ({ query }) => {
        const saveAs = query.save === 'yes' ? 'film.webm' : undefined;
        return new FileReply({ path: this.film, type: 'video/webm', saveAs });
      }),
    ];
  });
}

/** A service with a setting of each kind, whose health and start are controlled by the test. */
export class MoodyService {
  health: Health = { state: 'up', detail: '3 topics' };
  /** Thrown by the next starts while set. */
  failure: Problem | undefined;

  readonly descriptor: ServiceDescriptor = defineService({
    id: 'moody',
    title: 'Moody',
    summary: 'Has a setting of each kind.',
    settings: z.object({
      name: z.string().max(20).default('harbour').meta({ title: 'Name', description: 'Text, 20 characters at most.' }),
      limit: z.int().min(1).max(10).default(3).meta({ title: 'Limit', description: 'A number from 1 to 10.' }),
      loud: z.boolean().default(false).meta({ title: 'Loud', description: 'A switch.' }),
      level: z.enum(['low', 'high']).default('low').meta({ title: 'Level', description: 'One of two.' }),
      folder: z.string().default('').meta({ title: 'Folder', description: 'Set from outside in the tests.' }),
      words: z.array(z.string()).default([]).meta({ title: 'Words', description: 'One a line.' }),
      key: z.string().default('').meta({ title: 'Key', description: 'A secret.', secret: true }),
      people: z
        .array(z.object({ name: z.string().min(1), age: z.int().default(1) }))
        .default([])
        .meta({ title: 'People', description: 'Rows of small objects.' }),
      extra: z.record(z.string(), z.int()).default({}).meta({ title: 'Extra', description: 'Anything else is JSON.' }),
    }),
    environment: { MOODY_FOLDER: 'folder' },
    migrations: [],
    // Engines of a service that the tests do not run.
    engines: registry.find(({ id }) => id === 'notify')?.engines ?? [],
    create: () => ({
      start: () => (this.failure ? Promise.reject(this.failure) : Promise.resolve()),
      health: () => Promise.resolve(this.health),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  });
}

function plainService(
  id: string,
  title: string,
  summary: string,
  api: (bus: Bus, context: Context) => NonNullable<Service['api']>,
): ServiceDescriptor {
  // Manifest of the service that it replaces.
  const manifest = registry.find((entry) => entry.id === id);
  const { engines, live } = { engines: manifest?.engines ?? [], live: manifest?.live ?? [] };
  return defineService({
    id,
    title,
    summary,
    settings: z.object({}),
    environment: {},
    migrations: [],
    engines,
    live,
    create: (context): Service => ({
      api: api(context.bus, context),
      start: () => Promise.resolve(),
      health: () => Promise.resolve({ state: 'up', detail: '' }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  });
}

function withDefined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

/** Returns the code of a refused link; sentences of the service have none. */
function findRefusalCode(message: string): FailureCode | undefined {
  return message.startsWith('ERROR:') || message.startsWith('Refusing') ? findFailureCode(message) : undefined;
}
