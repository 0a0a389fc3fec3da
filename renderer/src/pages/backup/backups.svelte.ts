import { controlApi } from '../../../../services/contracts/control/api.ts';
import type { BackupFile, SetAsideData } from '../../../../services/contracts/control/backups.ts';
import { call } from '../../api/call.ts';
import { upload } from '../../api/upload.ts';
import { fullTime } from '../../parts/text/format.ts';
import { live } from '../../state/live.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** The backups in their folder, newest first. */
class Backups extends Loaded {
  #all = $state.raw<readonly BackupFile[]>([]);
  readonly #removals = new Removals();
  readonly list = $derived(this.#all.filter(({ name }) => !this.#removals.has(name)));
  folder = $state('');
  #aside = $state.raw<readonly SetAsideData[]>([]);
  /** What restores have replaced, newest first. */
  readonly setAside = $derived(this.#aside.filter(({ name }) => !this.#removals.has(name)));
  /** The newest one is too long ago, or there should be one by now. */
  isOld = $state(false);
  making = $state(false);

  constructor() {
    super();
    // The host that comes back may be one with other data.
    live.onReset(() => void this.load());
  }

  async load(): Promise<void> {
    await this.readingLatest(
      () => call(controlApi.backups),
      ({ backups, folder, isOld, setAside }) => {
        this.isOld = isOld;
        this.#aside = setAside;
        this.#all = backups;
        this.folder = folder;
      },
    );
  }

  /** @throws Problem that says why there is none. */
  async make(): Promise<void> {
    this.making = true;
    try {
      const made = await call(controlApi.makeBackup);
      this.#all = [made, ...this.#all.filter(({ name }) => name !== made.name)];
      this.isOld = false;
      toasts.say('The backup is written.');
    } finally {
      this.making = false;
    }
  }

  /** Keeps the file of another Homeport. @throws Problem that says why it is not kept. */
  async bring(
    file: File,
    way: { readonly progress: (part: number) => void; readonly signal: AbortSignal },
  ): Promise<BackupFile> {
    const brought = await upload(controlApi.takeBackup, file, { params: {}, query: {}, ...way });
    await this.load();
    toasts.say('The backup is whole, and kept here.');
    return brought;
  }

  /** Resolves when the host is about to start anew with it. @throws Problem that says why it does not. */
  async restore({ name, createdAt }: BackupFile): Promise<void> {
    await call(controlApi.restoreBackup, { params: { name }, body: { confirm: 'restore' } });
    toasts.say(`Homeport starts anew with the backup of ${fullTime(createdAt)}.`);
  }

  /** @throws Problem that says why it does not. */
  async putBack({ name, createdAt }: SetAsideData): Promise<void> {
    await call(controlApi.putBack, { params: { name } });
    toasts.say(`Homeport starts anew with the data from before ${fullTime(createdAt)}.`);
  }

  removeSetAside(name: string): void {
    this.#removals.take([name], {
      words: 'What the restore had replaced is removed.',
      remove: () => call(controlApi.removeSetAside, { params: { name } }),
      renew: () => this.load(),
    });
  }

  /** Takes it out of sight at once; the file goes when the way back is gone. */
  remove(name: string): void {
    this.#removals.take([name], {
      words: 'The backup is removed.',
      remove: () => call(controlApi.removeBackup, { params: { name } }),
      renew: () => this.load(),
    });
  }
}

export const backups = new Backups();
