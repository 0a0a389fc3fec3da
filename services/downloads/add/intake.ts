import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import { Addresses } from '../store/addresses.ts';
import { withoutPosition, withoutSecrets } from '../domain/address.ts';
import { isMasked } from '../domain/address-secrets.ts';
import { doneStates, queueStates, type Item } from '../domain/item.ts';
import { isSameOrder, type Order } from '../domain/order.ts';
import type { EngineWatch } from '../engine/engine-monitor.ts';
import type { Folders } from '../run/folders.ts';
import type { UrlPolicy } from './url-policy.ts';
import { markAnyway } from '../limits/store.ts';
import type { Live } from '../queue/live-updates.ts';
import type { DownloadMetrics } from '../run/metrics.ts';
import type { Notices } from '../run/download-notifier.ts';
import type { Prober } from './prober.ts';
import type { Queue } from '../queue/queue.ts';
import type { Runs } from '../run/active-runs.ts';
import { deleteFile } from '../run/side-files.ts';
import { leaveBatch } from '../store/batches.ts';
import { DownloadStore } from '../store/store.ts';
import type { Thumbnails } from '../run/thumbnails.ts';
import type { Work } from '../run/download-runner.ts';

/** Clients want an extraction's error in the answer, but nobody waits longer than this. */
const answerWithinMs = 10_000;

/** What a request has led to. Refusals and failures are answers too: the peer's clients look at `status`. */
export type Added =
  | { readonly status: 'ok'; readonly msg?: string; readonly uids: readonly string[] }
  | { readonly status: 'error'; readonly msg: string; readonly uids: readonly string[] };

interface Parts {
  readonly context: Context;
  readonly gate: UrlPolicy;
  readonly live: Live;
  readonly metrics: DownloadMetrics;
  readonly notices: Notices;
  readonly engine: EngineWatch;
  readonly prober: Prober;
  readonly queue: Queue;
  readonly work: Work;
  readonly runs: Runs;
  readonly thumbnails: Thumbnails;
  readonly folders: Folders;
  /** The same order, whatever an archive of downloads says. */
  readonly unarchived: (order: Order) => Order;
}

/** The way into the queue, out of it and back. */
export class Intake {
  readonly #parts: Parts;
  readonly #store: DownloadStore;
  readonly #addresses: Addresses;
  #lastNs = 0n;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = new DownloadStore(parts.context.db);
    this.#addresses = new Addresses(parts.context.vault);
  }

  /** The row is committed before this resolves. */
  async add(address: string, given: Order): Promise<Added> {
    const { context, gate, live, metrics } = this.#parts;
    const url = await gate(address);
    if ('msg' in url) {
      const { shown, ...secrets } = this.#addresses.split(address);
      return await this.#refuse(shown, { ...given, ...secrets }, withoutSecrets(url.msg));
    }
    const { shown, login, secrets } = this.#addresses.split(withoutPosition(url));
    const order = { ...given, login, secrets: secrets ?? (await this.#secretsOf(shown)) };
    const refusal = await this.#parts.folders.refusal(order);
    if (refusal !== undefined) return await this.#refuse(shown, order, refusal);
    const item = this.#item(shown, url.hostname, order, 'preparing');
    const duplicate = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const same = await store.match(
        [item.url],
        ['pending', 'waiting', 'preparing', 'downloading', 'postprocessing', 'paused'],
      );
      const found = same.find((other) => isSameOrder(other.order, order));
      if (found !== undefined) return found;
      await store.append([item]);
      await store.hold(item.uid, this.#parts.queue.holder, this.#parts.queue.leaseUntil);
      return undefined;
    });
    if (duplicate !== undefined)
      return { status: 'ok', msg: `Already in queue: ${duplicate.title}`, uids: [duplicate.uid] };
    metrics.added(1);
    live.changed(item);
    return await this.#prepare(item);
  }

  /** Puts a failed download back; what was fetched of it is kept. */
  async retry(ids: readonly string[]): Promise<Added> {
    const { context, live, queue } = this.#parts;
    const found = await this.#store.match(
      ids.map((id) => this.#addresses.shown(id)),
      ['finished', 'failed'],
    );
    const failed = found.findLast(({ state }) => state === 'failed');
    if (found.length === 0) return { status: 'error', msg: 'Failed download no longer exists.', uids: [] };
    if (failed === undefined) return { status: 'error', msg: 'Only failed downloads can be retried.', uids: [] };
    const url = await this.#parts.gate(failed.url);
    if ('msg' in url) return { status: 'error', msg: url.msg, uids: [failed.uid] };
    const item = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const back = await store.requeue(failed.uid, 'failed', 'preparing');
      if (back === undefined) return undefined;
      await leaveBatch(db, failed.uid);
      await store.hold(failed.uid, queue.holder, queue.leaseUntil);
      return { ...back, batch: null };
    });
    // Somebody else was faster.
    if (item === undefined) return { status: 'ok', msg: `Already in queue: ${failed.title}`, uids: [failed.uid] };
    live.changed(item);
    return await this.#prepare(item);
  }

  /** Lets downloads that were added with `auto_start: false` into the queue. */
  async startPending(ids: readonly string[]): Promise<void> {
    const { context, live, queue } = this.#parts;
    const items = await this.#store.match(
      ids.map((id) => this.#addresses.shown(id)),
      ['pending'],
    );
    for (const { uid, order } of items) {
      const started = await context.commit(async (db) => {
        const store = new DownloadStore(db);
        const waiting = await store.requeue(uid, 'pending', 'waiting');
        return waiting && (await store.change(uid, { order: { ...order, autoStart: true } }));
      });
      if (started !== undefined) live.changed(started);
    }
    queue.wake();
  }

  /** Lets downloads go that wait for their start; with `anyway` these and all that are queued, at any hour. Returns how many. */
  async start(uids: readonly string[], anyway: boolean): Promise<number> {
    const { context, live, queue } = this.#parts;
    const items = await this.#store.match(uids, ['pending', ...queueStates]);
    if (anyway && items.length > 0) {
      await context.commit(
        async (db) =>
          await markAnyway(
            db,
            items.map(({ uid }) => uid),
          ),
      );
    }
    await this.startPending(items.map(({ uid }) => uid));
    for (const item of await this.#store.match(uids, queueStates)) live.changed(item);
    queue.wake();
    return items.length;
  }

  /** Queues once more what has ended, as it was asked for. */
  async again(uid: string): Promise<Added> {
    const item = await this.#store.find(uid);
    if (item === undefined) return { status: 'error', msg: 'This download is not in the history any more.', uids: [] };
    const address = this.#addresses.join(item.url, item.order);
    return await this.add(address, {
      ...this.#parts.unarchived(item.order),
      autoStart: true,
      login: null,
      secrets: null,
    });
  }

  /** The peer's clients try again by adding the address that they were shown. */
  async #secretsOf(shown: string): Promise<string | null> {
    if (!isMasked(shown)) return null;
    const known = await this.#store.match([shown], ['pending', ...queueStates, ...doneStates]);
    return known.findLast(({ order }) => order.secrets !== null)?.order.secrets ?? null;
  }

  /** Cancels what is queued and forgets what is done. Finished files stay, unless `files`. Returns how many there were. */
  async remove(
    ids: readonly string[],
    states: Parameters<DownloadStore['match']>[1],
    { files = false }: { readonly files?: boolean } = {},
  ): Promise<number> {
    const { context, live, queue, notices, thumbnails, folders } = this.#parts;
    const removed = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const found = new Map(
        (
          await store.match(
            ids.map((id) => this.#addresses.shown(id)),
            states,
          )
        ).map((item) => [item.uid, item]),
      );
      await store.remove([...found.keys()]);
      await notices.left(
        db,
        [...found.values()].filter(({ state }) => state !== 'finished' && state !== 'failed'),
      );
      return [...found.values()];
    });
    live.removed(removed);
    // The rows are gone; the children may take their seconds to end.
    for (const { uid, filename, otherFiles = [], order } of removed) {
      const names = filename === null ? [] : [filename, ...otherFiles.map((other) => other.filename)];
      const deleted = (files ? names : []).map(async (name) => await deleteFile(folders.rootOf(order), name));
      const cleaned = Promise.all([queue.cancel(uid), thumbnails.forget(uid), ...deleted]);
      cleaned.catch((error: unknown) => context.log.error('a download was not cleaned up', { uid, error }));
    }
    return removed.length;
  }

  /** Gives up what is being looked at: lists that are still read, and whatever else was added just now. */
  async cancelAdds(): Promise<void> {
    const looked = await this.#store.queue(['preparing']);
    const uids = looked.filter(({ probed }) => !probed).map(({ uid }) => uid);
    if (uids.length > 0) await this.remove(uids, ['preparing']);
  }

  /** A download that waits, not stored yet. */
  draft(url: string, title: string, order: Order): Item {
    return this.#item(url, title, order, 'waiting');
  }

  /** Looks at the address as far as the time for an answer allows; the rest goes on behind it. */
  async #prepare(item: Item): Promise<Added> {
    const { context, queue, runs } = this.#parts;
    let answered = false;
    const probing = runs.start(item.uid, 'probe', async (signal) => await this.#probe(item, signal, () => answered));
    const waited = Promise.withResolvers<Added>();
    using _timer = context.clock.after(answerWithinMs, () =>
      waited.resolve({ status: 'ok', msg: 'Queued', uids: [item.uid] }),
    );
    try {
      return await Promise.race([probing, waited.promise]);
    } finally {
      answered = true;
      probing
        .catch((error: unknown) => context.log.error('a probe was not settled', { uid: item.uid, error }))
        .finally(() => queue.wake());
    }
  }

  async #probe(item: Item, signal: AbortSignal, answered: () => boolean): Promise<Added> {
    const { context, engine, prober, work } = this.#parts;
    try {
      await engine.check();
      if (engine.missing !== undefined) {
        await this.#letIn(item);
        return { status: 'ok', msg: `Queued, but ${engine.missing}`, uids: [item.uid] };
      }
      const items = await prober.probe(item, signal);
      const [first] = items;
      if (items.length === 1 && first?.uid === item.uid) await this.#letIn(first);
      return { status: 'ok', uids: items.map(({ uid }) => uid) };
    } catch (error) {
      if (signal.aborted || (error instanceof Problem && error.code === 'downloads.engine_missing')) {
        // The service stops, or the row was removed meanwhile; then there is nothing to let in.
        const kept = await this.#letIn(item);
        return kept ? { status: 'ok', msg: 'Queued', uids: [item.uid] } : { status: 'ok', msg: 'Cancelled', uids: [] };
      }
      if (!(error instanceof Problem)) context.log.error('probe failed', { uid: item.uid, error });
      const message = error instanceof Problem ? error.detail : 'The address could not be looked at; see the log.';
      // Whoever still waits for the answer needs no notice besides.
      await work.fail(item.uid, message, { tell: answered() });
      return { status: 'error', msg: message, uids: [item.uid] };
    }
  }

  /** False when it is gone. */
  async #letIn(item: Item): Promise<boolean> {
    const { context, live } = this.#parts;
    const waiting = await context.commit(async (db) => await new DownloadStore(db).release(item.uid));
    if (waiting !== undefined) live.changed(waiting);
    return waiting !== undefined;
  }

  /** A refused address is an item of the history, as with the peer. */
  async #refuse(address: string, order: Order, msg: string): Promise<Added> {
    const { context, live } = this.#parts;
    const title = URL.canParse(address) ? new URL(address).hostname || address : address;
    const item = { ...this.#item(address, title, order, 'failed'), message: msg };
    const failed = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      await store.append([item]);
      return await store.finish(item.uid, context.clock.now(), { state: 'failed', message: msg });
    });
    if (failed !== undefined) live.changed(failed);
    return { status: 'error', msg, uids: [item.uid] };
  }

  #item(url: string, title: string, order: Order, state: Item['state']): Item {
    const now = this.#parts.context.clock.now();
    // The peer's clients sort by this: two requests of one millisecond keep their order.
    const ns = BigInt(now) * 1_000_000n;
    this.#lastNs = ns > this.#lastNs ? ns : this.#lastNs + 1n;
    return {
      uid: this.#parts.context.random.text(16),
      url,
      order,
      state,
      title,
      videoId: url,
      liveStatus: null,
      playlist: null,
      probed: false,
      attempts: 0,
      message: null,
      filename: null,
      size: null,
      addedNs: String(this.#lastNs),
      createdAt: now,
      finishedAt: null,
      thumbnail: null,
    };
  }
}
