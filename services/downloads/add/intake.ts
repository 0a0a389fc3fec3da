import { runInEnglish } from '../../kit/language.ts';
import { readText, type Text } from '../../contracts/text.ts';
import * as m from '#messages/downloads-problems';
import type { Context } from '../../contracts/service.ts';
import type { FailureCode, FailureParameters } from '../../contracts/downloads/causes.ts';
import { Problem } from '../../contracts/problem.ts';
import { Addresses } from '../store/addresses.ts';
import { withoutPosition, withoutSecrets, type Refusal } from '../domain/address.ts';
import { toDownloadFailure } from '../domain/failure.ts';
import { isMasked } from '../domain/address-secrets.ts';
import { doneStates, queueStates, type Item } from '../domain/item.ts';
import { isSameOrder, type Order } from '../domain/order.ts';
import type { EngineMonitor } from '../engine/engine-monitor.ts';
import type { UrlPolicy } from '../engine/url-policy.ts';
import { ignoreHours } from '../limits/store.ts';
import type { Prober } from '../run/prober.ts';
import type { Queue } from '../queue/queue.ts';
import type { ActiveRuns } from '../run/active-runs.ts';
import { deleteFile } from '../files/side-files.ts';
import { leaveBatch } from '../store/batches.ts';
import { DownloadStore } from '../store/store.ts';
import { lockForAdd } from '../store/add-lock.ts';
import type { DownloadRunner } from '../run/download-runner.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { DownloadFiles } from '../files/download-files.ts';

/** Clients expect an extraction error in the response, which is sent after this time at the latest. */
const responseTimeoutMs = 10_000;

/** Result of a request. Refusals and failures are results as well: MeTube's clients evaluate `status`. */
export type AddResult =
  | { readonly status: 'ok'; readonly msg?: string; readonly uids: readonly string[] }
  | {
      readonly status: 'error';
      readonly msg: string;
      readonly uids: readonly string[];
      /** Cause, if known. */
      readonly failure?: FailureCode | null;
      readonly failureParameters?: FailureParameters | undefined;
    };

/** Result of a probe, whose text the request shows in its language. */
interface ProbeResult extends Pick<AddResult, 'status' | 'uids'> {
  readonly msg?: Text;
  readonly failure?: FailureCode | null;
  readonly failureParameters?: FailureParameters | undefined;
}

/** Work on a download: reading its address, and running it. */
export interface DownloadExecution {
  readonly prober: Prober;
  readonly runner: DownloadRunner;
  readonly runs: ActiveRuns;
}

interface Dependencies {
  readonly context: Context;
  readonly urlPolicy: UrlPolicy;
  readonly reporting: Reporting;
  readonly engine: EngineMonitor;
  readonly execution: DownloadExecution;
  readonly queue: Queue;
  readonly files: DownloadFiles;
  /** Returns the order without a download archive. */
  readonly withoutArchive: (order: Order) => Order;
}

/** Adds downloads to the queue, retries and removes them. */
export class Intake {
  readonly #deps: Dependencies;
  readonly #store: DownloadStore;
  readonly #addresses: Addresses;
  #lastNs = 0n;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#store = new DownloadStore(deps.context.db);
    this.#addresses = new Addresses(deps.context.vault);
  }

  /** Adds a download. The row is committed before this resolves. */
  async add(address: string, requested: Order): Promise<AddResult> {
    const { context, urlPolicy } = this.#deps;
    const { live, metrics } = this.#deps.reporting;
    const url = await urlPolicy(address);
    if ('msg' in url) {
      const { displayUrl: refusedUrl, ...secrets } = this.#addresses.split(address);
      return await this.#refuse(refusedUrl, { ...requested, ...secrets }, url);
    }
    const { displayUrl, login, secrets } = this.#addresses.split(withoutPosition(url));
    const order = { ...requested, login, secrets: secrets ?? (await this.#findSecrets(displayUrl)) };
    const refusal = await this.#deps.files.folders.findRefusal(order);
    if (refusal !== undefined) return await this.#refuse(displayUrl, order, refusal);
    const item = this.#item(displayUrl, url.hostname, order, 'preparing');
    const duplicate = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      await lockForAdd(db);
      const same = await store.match(
        [item.url],
        ['pending', 'waiting', 'preparing', 'downloading', 'postprocessing', 'paused'],
      );
      const existing = same.find((other) => isSameOrder(other.order, order));
      if (existing !== undefined) return existing;
      await store.append([item]);
      await store.setOwner(item.uid, this.#deps.queue.holder, this.#deps.queue.leaseUntil);
      return undefined;
    });
    if (duplicate !== undefined)
      return { status: 'ok', msg: m.alreadyQueued({ title: duplicate.title }), uids: [duplicate.uid] };
    metrics.added(1);
    live.changed(item);
    return await this.#prepare(item);
  }

  /** Requeues a failed download and keeps its partial files. */
  async retry(ids: readonly string[]): Promise<AddResult> {
    const { context, queue } = this.#deps;
    const { live } = this.#deps.reporting;
    const candidates = await this.#store.match(
      ids.map((id) => this.#addresses.toDisplayUrl(id)),
      ['finished', 'failed'],
    );
    const failed = candidates.findLast(({ state }) => state === 'failed');
    if (candidates.length === 0) return { status: 'error', msg: m.failedDownloadNotFound(), uids: [] };
    if (failed === undefined) return { status: 'error', msg: m.onlyFailedRetried(), uids: [] };
    const url = await this.#deps.urlPolicy(failed.url);
    if ('msg' in url) return { status: 'error', msg: url.msg, uids: [failed.uid], failure: url.failure ?? null };
    const item = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const requeued = await store.requeue(failed.uid, 'failed', 'preparing');
      if (requeued === undefined) return undefined;
      await leaveBatch(db, failed.uid);
      await store.setOwner(failed.uid, queue.holder, queue.leaseUntil);
      return { ...requeued, batch: null };
    });
    // Another request requeued it first.
    if (item === undefined) return { status: 'ok', msg: m.alreadyQueued({ title: failed.title }), uids: [failed.uid] };
    live.changed(item);
    return await this.#prepare(item);
  }

  /**
   * Requeues failed downloads without waiting for their probes, which run when it is their turn. Returns the number of
   * downloads; others are left out.
   */
  async retryAll(uids: readonly string[]): Promise<number> {
    const { context, queue } = this.#deps;
    const { live } = this.#deps.reporting;
    const requeued = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const items: Item[] = [];
      // In the order in which they were added.
      for (const { uid } of await store.match(uids, ['failed'])) {
        const item = await store.requeue(uid, 'failed', 'waiting');
        if (item === undefined) continue;
        await leaveBatch(db, uid);
        items.push({ ...item, batch: null });
      }
      return items;
    });
    for (const item of requeued) live.changed(item);
    queue.wake();
    return requeued.length;
  }

  /** Queues downloads that were added with `auto_start: false`. */
  async startPending(ids: readonly string[]): Promise<void> {
    const { context, queue } = this.#deps;
    const { live } = this.#deps.reporting;
    const items = await this.#store.match(
      ids.map((id) => this.#addresses.toDisplayUrl(id)),
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

  /**
   * Starts pending downloads; with `anyway`, these and all queued ones run outside of the allowed hours. Returns the
   * number of downloads.
   */
  async start(uids: readonly string[], anyway: boolean): Promise<number> {
    const { context, queue } = this.#deps;
    const { live } = this.#deps.reporting;
    const items = await this.#store.match(uids, ['pending', ...queueStates]);
    if (anyway && items.length > 0) {
      await context.commit(
        async (db) =>
          await ignoreHours(
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

  /** Adds an ended download again with the same options. */
  async addAgain(uid: string): Promise<AddResult> {
    const item = await this.#store.find(uid);
    if (item === undefined) return { status: 'error', msg: m.notInHistory(), uids: [] };
    const address = this.#addresses.join(item.url, item.order);
    return await this.add(address, {
      ...this.#deps.withoutArchive(item.order),
      autoStart: true,
      login: null,
      secrets: null,
    });
  }

  /** Finds the secrets of a masked address: MeTube's clients retry by adding the address that was shown to them. */
  async #findSecrets(displayUrl: string): Promise<string | null> {
    if (!isMasked(displayUrl)) return null;
    const matches = await this.#store.match([displayUrl], ['pending', ...queueStates, ...doneStates]);
    return matches.findLast(({ order }) => order.secrets !== null)?.order.secrets ?? null;
  }

  /**
   * Cancels queued downloads and deletes ended ones from the history. Finished files remain unless `files` is set.
   * Returns the number of removed downloads.
   */
  async remove(
    ids: readonly string[],
    states: Parameters<DownloadStore['match']>[1],
    { files = false }: { readonly files?: boolean } = {},
  ): Promise<number> {
    const { context, queue } = this.#deps;
    const { live, notifier } = this.#deps.reporting;
    const { thumbnails, folders } = this.#deps.files;
    const removed = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const items = new Map(
        (
          await store.match(
            ids.map((id) => this.#addresses.toDisplayUrl(id)),
            states,
          )
        ).map((item) => [item.uid, item]),
      );
      await store.remove([...items.keys()]);
      await notifier.removedFromQueue(
        db,
        [...items.values()].filter(({ state }) => state !== 'finished' && state !== 'failed'),
      );
      return [...items.values()];
    });
    live.removed(removed);
    // The rows are deleted; the child processes may take seconds to end.
    for (const { uid, filename, otherFiles = [], order } of removed) {
      const names = filename === null ? [] : [filename, ...otherFiles.map((other) => other.filename)];
      const deleted = (files ? names : []).map(async (name) => await deleteFile(folders.getRoot(order), name));
      const cleaned = Promise.all([queue.cancel(uid), thumbnails.remove(uid), ...deleted]);
      cleaned.catch((error: unknown) => context.log.error('download cleanup failed', { uid, error }));
    }
    return removed.length;
  }

  /** Cancels downloads that are being probed: lists that are still read, and everything else that was just added. */
  async cancelAdds(): Promise<void> {
    const preparing = await this.#store.queue(['preparing']);
    const uids = preparing.filter(({ probed }) => !probed).map(({ uid }) => uid);
    if (uids.length > 0) await this.remove(uids, ['preparing']);
  }

  /** Creates a waiting download that is not stored. */
  draft(url: string, title: string, order: Order): Item {
    return this.#item(url, title, order, 'waiting');
  }

  /** Probes the address within the time limit of the response; afterwards the probe continues in the background. */
  async #prepare(item: Item): Promise<AddResult> {
    const { context, queue } = this.#deps;
    const { runs } = this.#deps.execution;
    let answered = false;
    // The probe may outlive the request, and its failure is stored.
    const probing = runInEnglish(() =>
      runs.start(item.uid, 'probe', async (signal) => await this.#probe(item, signal, () => answered)),
    );
    const timeout = Promise.withResolvers<ProbeResult>();
    using _timer = context.clock.after(responseTimeoutMs, () =>
      timeout.resolve({ status: 'ok', msg: m.queued, uids: [item.uid] }),
    );
    try {
      const { msg, ...result } = await Promise.race([probing, timeout.promise]);
      return { ...result, ...(msg === undefined ? {} : { msg: readText(msg) }) } as AddResult;
    } finally {
      answered = true;
      probing
        .catch((error: unknown) => context.log.error('probe result not stored', { uid: item.uid, error }))
        .finally(() => queue.wake());
    }
  }

  async #probe(item: Item, signal: AbortSignal, answered: () => boolean): Promise<ProbeResult> {
    const { context, engine } = this.#deps;
    const { prober, runner } = this.#deps.execution;
    try {
      await engine.check();
      if (engine.missing !== undefined) {
        await this.#enqueue(item);
        const { missing } = engine;
        // The problem is read for the reader of the result, too.
        const msg = (): string => m.queuedWithProblem({ problem: engine.missing ?? missing });
        return { status: 'ok', msg, uids: [item.uid] };
      }
      const items = await prober.probe(item, signal);
      const [first] = items;
      if (items.length === 1 && first?.uid === item.uid) await this.#enqueue(first);
      return { status: 'ok', uids: items.map(({ uid }) => uid) };
    } catch (error) {
      if (signal.aborted || (error instanceof Problem && error.code === 'downloads.engine_missing')) {
        // The service stops, or the row was removed; in that case there is nothing to queue.
        const isQueued = await this.#enqueue(item);
        return isQueued
          ? { status: 'ok', msg: m.queued, uids: [item.uid] }
          : { status: 'ok', msg: m.cancelled, uids: [] };
      }
      if (!(error instanceof Problem)) context.log.error('probe failed', { uid: item.uid, error });
      const failure = toDownloadFailure(error);
      // A client that still waits for the response does not need a notification.
      await runner.fail(item.uid, failure, { notify: answered() });
      const { message: msg, kind: _, ...cause } = failure;
      return { status: 'error', msg, uids: [item.uid], ...cause };
    }
  }

  /** Queues a probed item. Returns false when it was removed. */
  async #enqueue(item: Item): Promise<boolean> {
    const { context } = this.#deps;
    const { live } = this.#deps.reporting;
    const waiting = await context.commit(async (db) => await new DownloadStore(db).release(item.uid));
    if (waiting !== undefined) live.changed(waiting);
    return waiting !== undefined;
  }

  /** Stores a refused address in the history, as MeTube does. */
  async #refuse(address: string, order: Order, refusal: Refusal): Promise<AddResult> {
    const { context } = this.#deps;
    const { live } = this.#deps.reporting;
    const msg = withoutSecrets(refusal.msg);
    const failure = refusal.failure ?? null;
    const title = URL.canParse(address) ? new URL(address).hostname || address : address;
    const item = { ...this.#item(address, title, order, 'failed'), message: msg, failure };
    const failed = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      await store.append([item]);
      return await store.finish(item.uid, context.clock.now(), { state: 'failed', message: msg, failure });
    });
    if (failed !== undefined) live.changed(failed);
    return { status: 'error', msg, uids: [item.uid], failure };
  }

  #item(url: string, title: string, order: Order, state: Item['state']): Item {
    const now = this.#deps.context.clock.now();
    // MeTube's clients sort by this value: two requests in the same millisecond keep their order.
    const ns = BigInt(now) * 1_000_000n;
    this.#lastNs = ns > this.#lastNs ? ns : this.#lastNs + 1n;
    return {
      uid: this.#deps.context.random.text(16),
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
