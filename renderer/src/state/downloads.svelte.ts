import { serviceChanged } from '../../../services/contracts/control.ts';
import {
  downloadChanged,
  downloadRemoved,
  downloadsApi,
  type Download,
} from '../../../services/contracts/downloads.ts';
import { call, sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';

const step = 200;

/** The download queue and its history, kept up to date by events. */
class Downloads {
  queue = $state<Download[]>([]);
  history = $state<Download[]>([]);
  total = $state(0);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  #shown = step;
  #late: (() => void)[] | undefined;

  constructor() {
    live.on(downloadChanged, (download) => this.#soon(() => this.#take(download)));
    live.on(downloadRemoved, ({ uid }) => this.#soon(() => this.#drop(uid)));
    live.onReset(() => void this.load());
    live.on(serviceChanged, ({ id, state }) => {
      if (id === 'downloads' && state === 'up' && this.phase === 'failed') void this.load();
    });
  }

  get more(): boolean {
    return this.queue.length + this.history.length < this.total && this.#shown < 1000;
  }

  async load(): Promise<void> {
    await live.opened();
    this.#late = [];
    try {
      const { queue, history, total } = await call(downloadsApi.list, { query: { limit: this.#shown } });
      this.queue = queue;
      this.history = history;
      this.total = total;
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    } finally {
      const late = this.#late;
      this.#late = undefined;
      for (const apply of late) apply();
    }
  }

  async loadMore(): Promise<void> {
    this.#shown += step;
    await this.load();
  }

  /** Answers what the host has to say about it besides yes. */
  async add(url: string, quality: string): Promise<string> {
    const { message } = await call(downloadsApi.add, { body: { url, ...(quality === '' ? {} : { quality }) } });
    return message ?? '';
  }

  async remove(uid: string): Promise<void> {
    await call(downloadsApi.remove, { body: { uids: [uid] } });
    this.#drop(uid);
  }

  async retry(uid: string): Promise<void> {
    await call(downloadsApi.retry, { body: { uid } });
  }

  #soon(apply: () => void): void {
    if (this.#late) this.#late.push(apply);
    else apply();
  }

  #take(download: Download): void {
    const over = download.state === 'finished' || download.state === 'failed';
    const [to, from] = over ? [this.history, this.queue] : [this.queue, this.history];
    const left = from.findIndex(({ uid }) => uid === download.uid);
    if (left >= 0) from.splice(left, 1);
    const index = to.findIndex(({ uid }) => uid === download.uid);
    if (index >= 0) to[index] = download;
    else if (over) to.unshift(download);
    else to.push(download);
    if (left < 0 && index < 0) this.total += 1;
  }

  #drop(uid: string): void {
    for (const list of [this.queue, this.history]) {
      const index = list.findIndex((download) => download.uid === uid);
      if (index < 0) continue;
      list.splice(index, 1);
      this.total -= 1;
    }
  }
}

export const downloads = new Downloads();
