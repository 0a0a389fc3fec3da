import * as m from '#messages/backup';
import { controlApi } from '../../../../services/contracts/control/api.ts';
import type { BackupFile, SetAsideData } from '../../../../services/contracts/control/backups.ts';
import { call } from '../../api/call.ts';
import { upload } from '../../api/upload.ts';
import { formatFullTime } from '../../parts/text/format.ts';
import { live } from '../../state/live.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** The backups in their folder, newest first. */
class Backups extends Loadable {
  #all = $state.raw<readonly BackupFile[]>([]);
  readonly #removals = new Removals();
  readonly list = $derived(this.#all.filter(({ name }) => !this.#removals.has(name)));
  folder = $state('');
  #replacedData = $state.raw<readonly SetAsideData[]>([]);
  /** Data that was replaced by restores, newest first. */
  readonly setAside = $derived(this.#replacedData.filter(({ name }) => !this.#removals.has(name)));
  /** The newest backup is too old, or the first one is overdue. */
  isOld = $state(false);
  isCreating = $state(false);

  constructor() {
    super();
    // After a restore the host may have other data.
    live.onReset(() => void this.load());
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(controlApi.backups),
      ({ backups, folder, isOld, setAside }) => {
        this.isOld = isOld;
        this.#replacedData = setAside;
        this.#all = backups;
        this.folder = folder;
      },
    );
  }

  /**
   * Creates a backup.
   * @throws Problem with the reason of a failure.
   */
  async create(): Promise<void> {
    this.isCreating = true;
    try {
      const created = await call(controlApi.makeBackup);
      this.#all = [created, ...this.#all.filter(({ name }) => name !== created.name)];
      this.isOld = false;
      toasts.show(m.theBackupIsWritten());
    } finally {
      this.isCreating = false;
    }
  }

  /**
   * Uploads a backup file of another installation.
   * @throws Problem with the reason of a rejection.
   */
  async bring(
    file: File,
    options: { readonly progress: (part: number) => void; readonly signal: AbortSignal },
  ): Promise<BackupFile> {
    const uploaded = await upload(controlApi.takeBackup, file, { params: {}, query: {}, ...options });
    await this.load();
    toasts.show(m.backupWholeKeptHere());
    return uploaded;
  }

  /**
   * Restores a backup. Resolves when the host is about to restart with it.
   * @throws Problem with the reason of a failure.
   */
  async restore({ name, createdAt }: BackupFile): Promise<void> {
    await call(controlApi.restoreBackup, { params: { name }, body: { confirm: 'restore' } });
    toasts.show(m.restoringBackup({ createdAt: formatFullTime(createdAt) }));
  }

  /**
   * Puts replaced data back.
   * @throws Problem with the reason of a failure.
   */
  async putBack({ name, createdAt }: SetAsideData): Promise<void> {
    await call(controlApi.putBack, { params: { name } });
    toasts.show(m.puttingBack({ createdAt: formatFullTime(createdAt) }));
  }

  removeSetAside(name: string): void {
    this.#removals.hideAndRemove([name], {
      message: m.restoreReplacedRemoved(),
      remove: () => call(controlApi.removeSetAside, { params: { name } }),
      reload: () => this.load(),
    });
  }

  /** Hides a backup immediately and deletes its file when Undo has expired. */
  remove(name: string): void {
    this.#removals.hideAndRemove([name], {
      message: m.theBackupIsRemoved(),
      remove: () => call(controlApi.removeBackup, { params: { name } }),
      reload: () => this.load(),
    });
  }
}

export const backups = new Backups();
