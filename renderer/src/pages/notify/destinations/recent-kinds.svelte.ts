import { writeLocalStorage, readLocalStorageJson, toStrings } from '../../../state/local-storage.ts';

const storageKey = 'homeport.notify.kinds';
/** Maximum number of stored kinds. */
const maxKinds = 6;

/** Kinds of destinations that were added in this browser, most recent first. */
class RecentKinds {
  schemes = $state.raw(toStrings(readLocalStorageJson(storageKey)));

  add(scheme: string): void {
    this.schemes = [...new Set([scheme, ...this.schemes])].slice(0, maxKinds);
    writeLocalStorage(storageKey, JSON.stringify(this.schemes));
  }
}

export const recentKinds = new RecentKinds();
