import { controlApi, type BackupFile } from '../../../../services/contracts/control/api.ts';
import { call } from '../../api/call.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** The backups in their folder, newest first. */
class Backups extends Loaded {
  #all = $state.raw<readonly BackupFile[]>([]);
  readonly #removals = new Removals();
  readonly list = $derived(this.#all.filter(({ name }) => !this.#removals.has(name)));
  folder = $state('');
  /** The newest one is too long ago, or there should be one by now. */
  isOld = $state(false);
  making = $state(false);

  async load(): Promise<void> {
    await this.reading(
      () => call(controlApi.backups),
      ({ backups, folder, isOld }) => {
        this.isOld = isOld;
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
