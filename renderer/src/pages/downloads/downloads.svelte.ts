import { serviceChanged } from '../../../../services/contracts/control/api.ts';
import {
  downloadChanged,
  downloadRemoved,
  downloadsApi,
  downloadsMoved,
  downloadsPaused,
  type Download,
  type DownloadOptions,
} from '../../../../services/contracts/downloads/api.ts';
import { getDownloadName } from '../../../../services/contracts/downloads/download-name.ts';
import { call } from '../../api/call.ts';
import { filterQuery, fits, inOrder, isOver, moved, renewed, steered, type HistoryFilter } from './list-rules.ts';
import { bridge } from '../../state/bridge.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { live } from '../../state/live.svelte.ts';
import { PendingActions } from '../../state/pending-actions.ts';
import { toasts } from '../../state/toasts.svelte.ts';

const pageSize = 200;
/** The host takes as many in one call. */
const callLimit = 1000;
/** Changes are drawn together, at most this often, in ms. */
const gatherMs = 100;
/** A pointer that has not moved for so long, in ms, is not about to press. */
const restMs = 5000;

/** The download queue and its history, kept up to date by events. */
class Downloads extends Loadable {
  queue = $state.raw<readonly Download[]>([]);
  history = $state.raw<readonly Download[]>([]);
  /** Rows of the history that fit the search, also those that are not loaded. */
  total = $state(0);
  /** The whole queue is paused. */
  paused = $state(false);
  search = $state('');
  filter = $state<HistoryFilter>('all');
  #turn = 0;
  #loadingMore = false;
  #gathered = new Map<string, Download>();
  #gathering = false;
  /** Until then rows stay where they are. */
  #held: ReturnType<typeof setTimeout> | undefined;
  /** Rows taken out of sight whose removal can still be taken back. */
  #leaving = new Set<string>();
  /** Those of them that the host still counts in the part of the history that is loaded. */
  #hidden = new Set<string>();
  #late: (() => void)[] | undefined;
  readonly #pending = new PendingActions();

  constructor() {
    super();
    live.on(downloadChanged, (download) => this.#soon(() => this.#gather(download)));
    live.on(downloadRemoved, ({ uid }) => this.#soon(() => this.#drop([uid])));
    live.on(downloadsMoved, ({ uids, before }) => this.#soon(() => (this.queue = moved(this.queue, uids, before))));
    live.on(downloadsPaused, ({ paused }) => this.#soon(() => (this.paused = this.#pending.isDisplayedPaused(paused))));
    live.onReset(() => void this.load());
    live.on(serviceChanged, ({ id, state }) => {
      if (id === 'downloads' && state === 'up' && this.phase === 'failed') void this.load();
    });
  }

  find(uid: string): Download | undefined {
    return [...this.queue, ...this.history].find((download) => download.uid === uid);
  }

  /** Reads everything anew; a later call overtakes an earlier one. */
  async load(search = this.search, filter = this.filter): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.search = search;
    this.filter = filter;
    await live.opened();
    this.#late ??= [];
    const limit = Math.min(1000, Math.max(pageSize, this.history.length));
    const isRead = await this.readOnce(
      () => call(downloadsApi.list, { query: { limit, q: search, ...filterQuery(filter) } }),
      ({ queue, history, total, paused }) => {
        // What was gathered is older than this.
        this.#gathered.clear();
        this.#pending.takeHostState();
        this.queue = queue.filter(({ uid }) => !this.#leaving.has(uid)).map((told) => this.#pending.getDisplayed(told));
        this.#hidden.clear();
        this.history = this.#seen(history);
        this.total = total - this.#hidden.size;
        this.paused = this.#pending.isDisplayedPaused(paused);
      },
      () => turn !== this.#turn,
    );
    if (!isRead && this.phase === 'ready') toasts.show(this.error, { tone: 'bad' });
    if (turn !== this.#turn) return;
    const late = this.#late ?? [];
    this.#late = undefined;
    for (const apply of late) apply();
  }

  /** Reads older rows of the history. */
  async loadMore(): Promise<void> {
    if (this.#loadingMore || this.history.length >= this.total || this.phase !== 'ready') return;
    this.#loadingMore = true;
    const turn = this.#turn;
    try {
      const offset = this.history.length + this.#hidden.size;
      const query = { limit: pageSize, offset, q: this.search, ...filterQuery(this.filter) };
      const { history, total } = await call(downloadsApi.list, { query });
      if (turn !== this.#turn) return;
      const known = new Set(this.history.map(({ uid }) => uid));
      this.history = [...this.history, ...this.#seen(history).filter(({ uid }) => !known.has(uid))];
      this.total = history.length === 0 ? this.history.length : total - this.#hidden.size;
    } catch (error) {
      toasts.showError(error);
    } finally {
      this.#loadingMore = false;
    }
  }

  /** Answers what the host has to say about it besides yes. */
  async add(url: string, options: DownloadOptions): Promise<string> {
    this.letGo();
    const { message } = await call(downloadsApi.add, { body: { url, ...options } });
    return message ?? '';
  }

  /** Takes rows out of sight at once; they, and with `files` their files, are removed for good when the way back is gone. */
  remove(uids: readonly string[], files = false): void {
    const one = uids.length === 1 ? this.find(uids[0] ?? '') : undefined;
    for (const uid of uids) this.#leaving.add(uid);
    const hidden = this.history.filter(({ uid }) => this.#leaving.has(uid)).map(({ uid }) => uid);
    this.#drop(uids);
    for (const uid of hidden) this.#hidden.add(uid);
    const stay = async (): Promise<void> => {
      for (const uid of uids) this.#leaving.delete(uid);
      await this.load();
    };
    const kind = one === undefined ? `${String(uids.length)} downloads` : getDownloadName(one);
    toasts.show(`${files ? 'Deleted' : 'Removed'}: ${kind}`, {
      undo: stay,
      settle: async () => {
        try {
          // A page that goes is carried out one call for, and no longer one than that.
          const keepalive = uids.length <= callLimit;
          for (let start = 0; start < uids.length; start += callLimit) {
            await call(downloadsApi.remove, { body: { uids: uids.slice(start, start + callLimit), files }, keepalive });
          }
        } catch (error) {
          await stay();
          throw error;
        }
      },
    });
  }

  /** Shows the file in the system's file manager, in the desktop app. */
  async reveal(uid: string): Promise<void> {
    if ((await bridge?.showDownload({ uid })) === false)
      toasts.show('Its file is not there any more.', { tone: 'bad' });
  }

  /** Lets rows go that wait for their start, with `anyway` at any hour. */
  async start(uids: readonly string[], anyway = false): Promise<void> {
    await call(downloadsApi.start, { body: { uids: [...uids], anyway } });
  }

  /** Downloads once more what has ended, as it was asked for. */
  async again(uid: string): Promise<void> {
    const { message } = await call(downloadsApi.again, { body: { uid } });
    toasts.show(message ?? 'Added to the queue once more.');
  }

  async retry(uid: string): Promise<void> {
    await call(downloadsApi.retry, { body: { uid } });
  }

  /** Pauses or resumes what is named, or the whole queue. Shown at once, and taken back when the host refuses. */
  async steer(kind: 'pause' | 'resume', uids?: readonly string[]): Promise<void> {
    const before = this.paused;
    if (uids === undefined) this.paused = kind === 'pause';
    const was = this.queue;
    const shown = was.map((download) => steered(download, kind, uids));
    this.queue = shown;
    try {
      const body = uids === undefined ? {} : { uids: [...uids] };
      await this.#pending.send({ kind, uids }, () => call(downloadsApi[kind], { body }));
    } catch (error) {
      this.paused = before;
      // Rows that changed since stay as they are now.
      this.queue = this.queue.map((download) => was[shown.indexOf(download)] ?? download);
      void this.load();
      throw error;
    } finally {
      const { rows, paused } = this.#pending.takeHostState();
      for (const told of rows) if (!this.#gathered.has(told.uid)) this.#gather(told);
      if (paused !== undefined) this.paused = this.#pending.isDisplayedPaused(paused);
    }
  }

  /** A pointer moves over the list: rows change what they say, and go to another place only after {@link letGo}. */
  hold(): void {
    clearTimeout(this.#held);
    this.#held = setTimeout(() => this.letGo(), restMs);
  }

  letGo(): void {
    if (this.#held === undefined) return;
    clearTimeout(this.#held);
    this.#held = undefined;
    for (const download of [...this.queue.filter(isOver), ...this.history.filter((one) => !isOver(one))]) {
      if (!this.#gathered.has(download.uid)) this.#gathered.set(download.uid, download);
    }
    if (this.#gathered.size > 0) this.#apply();
  }

  /** Shows rows at another place without telling the host yet. */
  preview(uids: readonly string[], before: string | null): void {
    this.queue = moved(this.queue, uids, before);
  }

  /** Puts the rows into an order they had. */
  restore(order: readonly string[]): void {
    this.queue = inOrder(this.queue, order);
  }

  /** Moves rows, at once on the page; back to `was` when the host refuses. */
  async move(uids: readonly string[], before: string | null, was = this.queue.map(({ uid }) => uid)): Promise<void> {
    this.preview(uids, before);
    try {
      const place = before === null ? { position: 'bottom' as const } : { before };
      await call(downloadsApi.reorder, { body: { uids: [...uids], ...place } });
    } catch (error) {
      this.restore(was);
      throw error;
    }
  }

  #soon(apply: () => void): void {
    if (this.#late) this.#late.push(apply);
    else apply();
  }

  #gather(download: Download): void {
    this.#gathered.set(download.uid, download);
    if (!this.#gathering) setTimeout(() => this.#apply(), gatherMs);
    this.#gathering = true;
  }

  #apply(): void {
    this.#gathering = false;
    const gathered = this.#gathered;
    this.#gathered = new Map();
    const changes = new Map([...gathered].map(([uid, told]) => [uid, this.#pending.getDisplayed(told)]));
    if (this.#held !== undefined) return this.#applyInPlace(changes, gathered);
    const [queued, over]: [Map<string, Download>, Map<string, Download>] = [new Map(), new Map()];
    for (const [uid, download] of changes) {
      if (!this.#leaving.has(uid)) (isOver(download) ? over : queued).set(uid, download);
    }
    const queue = renewed(this.queue, queued, changes);
    const history = renewed(this.history, over, changes);
    const ended = [...over.values()].filter((download) => fits(download, this.search, this.filter));
    this.total += history.length - this.history.length + ended.length;
    this.history = [...ended.reverse(), ...history];
    this.queue = [...queue, ...queued.values()];
    // Several new ones are a playlist, which may stand anywhere in the queue.
    if (queued.size > 1) void this.load();
  }

  /** What is new waits, as it was told, until nobody points at the list. */
  #applyInPlace(changes: ReadonlyMap<string, Download>, told: ReadonlyMap<string, Download>): void {
    const own = new Map([...changes].filter(([uid]) => !this.#leaving.has(uid)));
    this.queue = renewed(this.queue, own, own);
    this.history = renewed(this.history, own, own);
    for (const [uid, download] of own) this.#gathered.set(uid, told.get(uid) ?? download);
  }

  /** Rows of the history that are not on their way out. */
  #seen(rows: readonly Download[]): readonly Download[] {
    return rows.filter(({ uid }) => {
      if (this.#leaving.has(uid)) this.#hidden.add(uid);
      return !this.#leaving.has(uid);
    });
  }

  #drop(uids: readonly string[]): void {
    for (const uid of uids) {
      this.#gathered.delete(uid);
      this.#pending.forget(uid);
      this.#hidden.delete(uid);
    }
    const gone = new Set(uids);
    const history = this.history.filter(({ uid }) => !gone.has(uid));
    this.total -= this.history.length - history.length;
    this.history = history;
    this.queue = this.queue.filter(({ uid }) => !gone.has(uid));
  }
}

export const downloads = new Downloads();
