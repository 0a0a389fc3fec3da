import * as m from '#messages/downloads';
import { serviceChanged } from '../../../../../services/contracts/control/api.ts';
import {
  downloadChanged,
  downloadRemoved,
  downloadsApi,
  downloadsMoved,
  downloadsPaused,
  type Download,
  type DownloadOptions,
} from '../../../../../services/contracts/downloads/api.ts';
import { getDownloadName } from '../../../../../services/contracts/downloads/download-name.ts';
import { call } from '../../../api/call.ts';
import {
  toFilterQuery,
  matchesFilter,
  sortByUids,
  hasEnded,
  moveRows,
  applyUpdates,
  applyQueueAction,
  type HistoryFilter,
} from './list-rules.ts';
import { bridge } from '../../../state/bridge.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';
import { live } from '../../../state/live.svelte.ts';
import { PendingActions } from './pending-actions.ts';
import { toasts } from '../../../state/toasts.svelte.ts';

const pageSize = 200;
/** Maximum number of rows that the API accepts per call. */
const maxUidsPerCall = 1000;
/** Minimum time between two updates of the list, in ms. */
const minUpdateIntervalMs = 100;
/** Time without pointer movement, in ms, after which rows may move again. */
const holdTimeoutMs = 5000;

/** The download queue and its history, kept up to date by events. */
class Downloads extends Loadable {
  queue = $state.raw<readonly Download[]>([]);
  history = $state.raw<readonly Download[]>([]);
  /** Number of history rows that match the search, including those that are not loaded. */
  total = $state(0);
  /** True while the whole queue is paused. */
  paused = $state(false);
  search = $state('');
  filter = $state<HistoryFilter>('all');
  #loadId = 0;
  #loadingMore = false;
  #queuedChanges = new Map<string, Download>();
  #isUpdateScheduled = false;
  /** Timer during which rows keep their position. */
  #holdTimer: ReturnType<typeof setTimeout> | undefined;
  /** Rows that were removed from the page and whose removal can still be undone. */
  #removingUids = new Set<string>();
  /** Removed rows that the API still counts in the loaded part of the history. */
  #hiddenUids = new Set<string>();
  #deferred: (() => void)[] | undefined;
  readonly #pendingActions = new PendingActions();

  constructor() {
    super();
    live.on(downloadChanged, (download) => this.#applyOrDefer(() => this.#queueChange(download)));
    live.on(downloadRemoved, ({ uid }) => this.#applyOrDefer(() => this.#removeRows([uid])));
    live.on(downloadsMoved, ({ uids, before }) =>
      this.#applyOrDefer(() => (this.queue = moveRows(this.queue, uids, before))),
    );
    live.on(downloadsPaused, ({ paused }) =>
      this.#applyOrDefer(() => (this.paused = this.#pendingActions.isDisplayedPaused(paused))),
    );
    live.onReset(() => void this.load());
    live.on(serviceChanged, ({ id, state }) => {
      if (id === 'downloads' && state === 'up' && this.phase === 'failed') void this.load();
    });
  }

  find(uid: string): Download | undefined {
    return [...this.queue, ...this.history].find((download) => download.uid === uid);
  }

  /** Loads the queue and the history; a later call supersedes an earlier one. */
  async load(search = this.search, filter = this.filter): Promise<void> {
    this.#loadId += 1;
    const loadId = this.#loadId;
    this.search = search;
    this.filter = filter;
    await live.opened();
    this.#deferred ??= [];
    const limit = Math.min(1000, Math.max(pageSize, this.history.length));
    const isRead = await this.readOnce(
      () => call(downloadsApi.list, { query: { limit, q: search, ...toFilterQuery(filter) } }),
      ({ queue, history, total, paused }) => {
        // Queued changes are older than this reply.
        this.#queuedChanges.clear();
        this.#pendingActions.takeHostState();
        this.queue = queue
          .filter(({ uid }) => !this.#removingUids.has(uid))
          .map((row) => this.#pendingActions.getDisplayed(row));
        this.#hiddenUids.clear();
        this.history = this.#filterRemoving(history);
        this.total = total - this.#hiddenUids.size;
        this.paused = this.#pendingActions.isDisplayedPaused(paused);
      },
      () => loadId !== this.#loadId,
    );
    if (!isRead && this.phase === 'ready') toasts.show(this.error, { tone: 'bad' });
    if (loadId !== this.#loadId) return;
    const deferred = this.#deferred ?? [];
    this.#deferred = undefined;
    for (const apply of deferred) apply();
  }

  /** Loads older rows of the history. */
  async loadMore(): Promise<void> {
    if (this.#loadingMore || this.history.length >= this.total || this.phase !== 'ready') return;
    this.#loadingMore = true;
    const loadId = this.#loadId;
    try {
      const offset = this.history.length + this.#hiddenUids.size;
      const query = { limit: pageSize, offset, q: this.search, ...toFilterQuery(this.filter) };
      const { history, total } = await call(downloadsApi.list, { query });
      if (loadId !== this.#loadId) return;
      const loadedUids = new Set(this.history.map(({ uid }) => uid));
      this.history = [...this.history, ...this.#filterRemoving(history).filter(({ uid }) => !loadedUids.has(uid))];
      this.total = history.length === 0 ? this.history.length : total - this.#hiddenUids.size;
    } catch (error) {
      toasts.showError(error);
    } finally {
      this.#loadingMore = false;
    }
  }

  /** Adds a download and returns the note of the API, which may be empty. */
  async add(url: string, options: DownloadOptions): Promise<string> {
    this.releaseRows();
    const { message } = await call(downloadsApi.add, { body: { url, ...options } });
    return message ?? '';
  }

  /**
   * Hides rows immediately and removes them when the removal can no longer be undone.
   *
   * @param files Deletes the files as well.
   */
  remove(uids: readonly string[], files = false): void {
    const single = uids.length === 1 ? this.find(uids[0] ?? '') : undefined;
    const loadedUids = new Set([...this.queue, ...this.history].map(({ uid }) => uid));
    const hasUnloadedRows = uids.some((uid) => !loadedUids.has(uid));
    for (const uid of uids) this.#removingUids.add(uid);
    const hidden = this.history.filter(({ uid }) => this.#removingUids.has(uid)).map(({ uid }) => uid);
    this.#removeRows(uids);
    for (const uid of hidden) this.#hiddenUids.add(uid);
    const restoreRows = async (): Promise<void> => {
      for (const uid of uids) this.#removingUids.delete(uid);
      await this.load();
    };
    toasts.show(formatRemoval(uids.length, single, files), {
      undo: restoreRows,
      settle: async () => {
        try {
          // A page that is being closed can complete a single call only.
          const keepalive = uids.length <= maxUidsPerCall;
          for (let start = 0; start < uids.length; start += maxUidsPerCall) {
            await call(downloadsApi.remove, {
              body: { uids: uids.slice(start, start + maxUidsPerCall), files },
              keepalive,
            });
          }
          // The history continues with rows that were not loaded.
          if (hasUnloadedRows) await this.load();
        } catch (error) {
          await restoreRows();
          throw error;
        }
      },
    });
  }

  /** Shows the file in the file manager; available in the desktop app only. */
  async reveal(uid: string): Promise<void> {
    if ((await bridge?.showDownload({ uid })) === false) toasts.show(m.fileMissing(), { tone: 'bad' });
  }

  /** Starts waiting rows; `anyway` starts them outside of the download hours. */
  async start(uids: readonly string[], anyway = false): Promise<void> {
    await call(downloadsApi.start, { body: { uids: [...uids], anyway } });
  }

  /** Adds an ended download to the queue again, with the same options. */
  async downloadAgain(uid: string): Promise<void> {
    const { message } = await call(downloadsApi.again, { body: { uid } });
    toasts.show(message ?? m.addedAgain());
  }

  /** Retries all failed downloads with one request. @throws Problem */
  async retryAll(uids: readonly string[]): Promise<void> {
    let count = 0;
    for (let start = 0; start < uids.length; start += maxUidsPerCall) {
      const { retried } = await call(downloadsApi.retryAll, {
        body: { uids: uids.slice(start, start + maxUidsPerCall) },
      });
      count += retried;
    }
    toasts.show(m.countRetried({ count }));
  }

  /** Lists the ended downloads of a state, or those of the current search and filter, including those not loaded. */
  async listEnded(state?: 'finished' | 'failed'): Promise<readonly { readonly uid: string; readonly url: string }[]> {
    const query = state === undefined ? { q: this.search, ...toFilterQuery(this.filter) } : { state };
    const { downloads } = await call(downloadsApi.ended, { query });
    return downloads.filter(({ uid }) => !this.#removingUids.has(uid));
  }

  async retry(uid: string): Promise<void> {
    await call(downloadsApi.retry, { body: { uid } });
  }

  /**
   * Pauses or resumes rows, or the whole queue. The change is displayed immediately and reverted when the API refuses it.
   *
   * @throws Problem
   */
  async runQueueAction(kind: 'pause' | 'resume', uids?: readonly string[]): Promise<void> {
    const before = this.paused;
    if (uids === undefined) this.paused = kind === 'pause';
    const previousQueue = this.queue;
    const displayed = previousQueue.map((download) => applyQueueAction(download, kind, uids));
    this.queue = displayed;
    try {
      const body = uids === undefined ? {} : { uids: [...uids] };
      await this.#pendingActions.send({ kind, uids }, () => call(downloadsApi[kind], { body }));
    } catch (error) {
      this.paused = before;
      // Rows that changed in the meantime keep their current state.
      this.queue = this.queue.map((download) => previousQueue[displayed.indexOf(download)] ?? download);
      void this.load();
      throw error;
    } finally {
      const { rows, paused } = this.#pendingActions.takeHostState();
      for (const row of rows) if (!this.#queuedChanges.has(row.uid)) this.#queueChange(row);
      if (paused !== undefined) this.paused = this.#pendingActions.isDisplayedPaused(paused);
    }
  }

  /** Keeps the position of rows while a pointer moves over the list, until {@link releaseRows}. Their content still changes. */
  holdRows(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = setTimeout(() => this.releaseRows(), holdTimeoutMs);
  }

  releaseRows(): void {
    if (this.#holdTimer === undefined) return;
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
    for (const download of [...this.queue.filter(hasEnded), ...this.history.filter((one) => !hasEnded(one))]) {
      if (!this.#queuedChanges.has(download.uid)) this.#queuedChanges.set(download.uid, download);
    }
    if (this.#queuedChanges.size > 0) this.#apply();
  }

  /** Displays rows at another position without a request. */
  preview(uids: readonly string[], before: string | null): void {
    this.queue = moveRows(this.queue, uids, before);
  }

  /** Restores a former order of the queue. */
  restore(order: readonly string[]): void {
    this.queue = sortByUids(this.queue, order);
  }

  /**
   * Moves rows. The change is displayed immediately and reverted to `was` when the API refuses it.
   *
   * @throws Problem
   */
  async move(uids: readonly string[], before: string | null, was = this.queue.map(({ uid }) => uid)): Promise<void> {
    this.preview(uids, before);
    try {
      const target = before === null ? { position: 'bottom' as const } : { before };
      await call(downloadsApi.reorder, { body: { uids: [...uids], ...target } });
    } catch (error) {
      this.restore(was);
      throw error;
    }
  }

  #applyOrDefer(apply: () => void): void {
    if (this.#deferred) this.#deferred.push(apply);
    else apply();
  }

  #queueChange(download: Download): void {
    this.#queuedChanges.set(download.uid, download);
    if (!this.#isUpdateScheduled) setTimeout(() => this.#apply(), minUpdateIntervalMs);
    this.#isUpdateScheduled = true;
  }

  #apply(): void {
    this.#isUpdateScheduled = false;
    const queuedChanges = this.#queuedChanges;
    this.#queuedChanges = new Map();
    const changes = new Map([...queuedChanges].map(([uid, row]) => [uid, this.#pendingActions.getDisplayed(row)]));
    if (this.#holdTimer !== undefined) return this.#applyInPlace(changes, queuedChanges);
    const [queuedRows, endedRows]: [Map<string, Download>, Map<string, Download>] = [new Map(), new Map()];
    for (const [uid, download] of changes) {
      if (!this.#removingUids.has(uid)) (hasEnded(download) ? endedRows : queuedRows).set(uid, download);
    }
    const queue = applyUpdates(this.queue, queuedRows, changes);
    const history = applyUpdates(this.history, endedRows, changes);
    const ended = [...endedRows.values()].filter((download) => matchesFilter(download, this.search, this.filter));
    this.total += history.length - this.history.length + ended.length;
    this.history = [...ended.reverse(), ...history];
    this.queue = [...queue, ...queuedRows.values()];
    // Several new rows belong to a playlist, whose position in the queue is unknown.
    if (queuedRows.size > 1) void this.load();
  }

  /** Updates the content of rows and keeps their changes until the pointer leaves the list. */
  #applyInPlace(changes: ReadonlyMap<string, Download>, hostRows: ReadonlyMap<string, Download>): void {
    const visibleChanges = new Map([...changes].filter(([uid]) => !this.#removingUids.has(uid)));
    this.queue = applyUpdates(this.queue, visibleChanges, visibleChanges);
    this.history = applyUpdates(this.history, visibleChanges, visibleChanges);
    for (const [uid, download] of visibleChanges) this.#queuedChanges.set(uid, hostRows.get(uid) ?? download);
  }

  /** Filters out rows that are being removed and counts them as hidden. */
  #filterRemoving(rows: readonly Download[]): readonly Download[] {
    return rows.filter(({ uid }) => {
      if (this.#removingUids.has(uid)) this.#hiddenUids.add(uid);
      return !this.#removingUids.has(uid);
    });
  }

  #removeRows(uids: readonly string[]): void {
    for (const uid of uids) {
      this.#queuedChanges.delete(uid);
      this.#pendingActions.forget(uid);
      this.#hiddenUids.delete(uid);
    }
    const removedUids = new Set(uids);
    const history = this.history.filter(({ uid }) => !removedUids.has(uid));
    this.total -= this.history.length - history.length;
    this.history = history;
    this.queue = this.queue.filter(({ uid }) => !removedUids.has(uid));
  }
}

function formatRemoval(count: number, single: Download | undefined, files: boolean): string {
  if (single === undefined) return files ? m.deletedCount({ count }) : m.removedCount({ count });
  const name = getDownloadName(single);
  return files ? m.deletedName({ name }) : m.removedName({ name });
}

export const downloads = new Downloads();
