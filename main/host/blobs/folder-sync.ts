import { syncFolder } from '../../../services/kit/platform/sync-folder.ts';

/** Sync in progress of a folder, which never rejects, and the next one. */
interface FolderState {
  current: Promise<unknown>;
  next: Promise<void> | undefined;
}

/** Makes file names durable. All callers for a folder share one sync; a sync in progress may miss the newest name. */
export class FolderSync {
  readonly #states = new Map<string, FolderState>();

  run(folder: string): Promise<void> {
    const state = this.#states.get(folder) ?? { current: Promise.resolve(), next: undefined };
    this.#states.set(folder, state);
    state.next ??= state.current.then(() => {
      state.next = undefined;
      const sync = syncFolder(folder);
      state.current = Promise.allSettled([sync]).then(() => {
        if (state.next === undefined) this.#states.delete(folder);
      });
      return sync;
    });
    return state.next;
  }
}
