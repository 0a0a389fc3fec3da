import { controlApi, type BackupFile } from '../../../../services/contracts/control/api.ts';
import { call, sentence } from '../../api/call.ts';
import { toasts } from '../../state/toasts.svelte.ts';

/** The backups in their folder, newest first. */
class Backups {
  list = $state.raw<readonly BackupFile[]>([]);
  folder = $state('');
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  making = $state(false);
  /** Taken out of sight, while that can still be taken back. */
  #leaving = new Set<string>();

  async load(): Promise<void> {
    try {
      const { backups, folder } = await call(controlApi.backups);
      this.list = backups.filter(({ name }) => !this.#leaving.has(name));
      this.folder = folder;
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /** @throws Problem that says why there is none. */
  async make(): Promise<void> {
    this.making = true;
    try {
      const made = await call(controlApi.makeBackup);
      this.list = [made, ...this.list.filter(({ name }) => name !== made.name)];
      toasts.say('The backup is written.');
    } finally {
      this.making = false;
    }
  }

  /** Takes it out of sight at once; the file goes when the way back is gone. */
  remove(name: string): void {
    this.#leaving.add(name);
    this.list = this.list.filter((backup) => backup.name !== name);
    toasts.say('The backup is removed.', {
      undo: async () => {
        this.#leaving.delete(name);
        await this.load();
      },
      settle: async () => {
        try {
          await call(controlApi.removeBackup, { params: { name } });
        } finally {
          this.#leaving.delete(name);
          await this.load();
        }
      },
    });
  }
}

export const backups = new Backups();
