import { fileRoutes } from '../../../../../services/contracts/sync/files.ts';
import { Problem } from '../../../../../services/contracts/problem.ts';
import { formatError } from '../../../api/call.ts';
import { upload } from '../../../api/upload.ts';
import type { DroppedFile } from './dropped-files.ts';

/** Code of the host for a name that is in use. */
const existsCode = 'sync.file_exists';

/** File in the upload queue. */
export interface Upload {
  readonly id: number;
  readonly file: File;
  /** Folder that receives the file. */
  readonly at: string;
  readonly fraction: number;
  readonly state: 'waiting' | 'running' | 'exists' | 'failed';
  readonly error: string;
}

/** Uploads files one after the other, and keeps those that need a decision. */
export class Uploads {
  items = $state.raw<readonly Upload[]>([]);
  readonly running = $derived(this.items.find(({ state }) => state === 'running'));
  readonly waitingCount = $derived(this.items.filter(({ state }) => state === 'waiting').length);
  readonly #onStored: (at: string) => void;
  #nextId = 1;
  #abort: AbortController | undefined;

  /** @param onStored called after each upload with its folder */
  constructor(onStored: (at: string) => void) {
    this.#onStored = onStored;
  }

  add(at: string, files: readonly DroppedFile[]): void {
    const added = files.map(({ file, folder }): Upload => {
      const target = folder === '' ? at : `${/[/:]$/.test(at) ? at : `${at}/`}${folder}`;
      return { id: this.#nextId++, file, at: target, fraction: 0, state: 'waiting', error: '' };
    });
    this.items = [...this.items, ...added];
    void this.#runNext(false);
  }

  /** Uploads a file again, over the existing one. */
  replace({ id }: Upload): void {
    this.#update(id, { state: 'waiting', error: '' });
    void this.#runNext(true, id);
  }

  dismiss({ id }: Upload): void {
    this.items = this.items.filter((item) => item.id !== id);
  }

  /** Stops the running upload and removes those that wait. */
  cancel(): void {
    this.items = this.items.filter(({ state }) => state === 'running' || state === 'exists');
    this.#abort?.abort();
  }

  async #runNext(replace: boolean, id?: number): Promise<void> {
    const isNext = (item: Upload): boolean => item.state === 'waiting' && (id === undefined || item.id === id);
    const next = this.items.find(isNext);
    if (next === undefined || this.#abort !== undefined) return;
    this.#abort = new AbortController();
    this.#update(next.id, { state: 'running', fraction: 0 });
    try {
      await upload(fileRoutes.uploadFile, next.file, {
        params: {},
        query: { at: next.at, name: next.file.name, replace: replace ? 'yes' : 'no' },
        progress: (fraction) => this.#update(next.id, { fraction }),
        signal: this.#abort.signal,
      });
      this.dismiss(next);
      this.#onStored(next.at);
    } catch (error) {
      if (this.#abort.signal.aborted) this.dismiss(next);
      else if (error instanceof Problem && error.code === existsCode) this.#update(next.id, { state: 'exists' });
      else this.#update(next.id, { state: 'failed', error: formatError(error) });
    }
    this.#abort = undefined;
    await this.#runNext(false);
  }

  #update(id: number, change: Partial<Upload>): void {
    this.items = this.items.map((item) => (item.id === id ? { ...item, ...change } : item));
  }
}
