import { writeLocalStorage, readLocalStorageJson, toStrings } from '../../state/local-storage.ts';

const place = 'homeport.notify.kinds';
/** Kinds that are remembered. */
const most = 6;

/** Kinds of destinations this browser's person added, the last first. */
class RecentKinds {
  schemes = $state.raw(toStrings(readLocalStorageJson(place)));

  note(scheme: string): void {
    this.schemes = [...new Set([scheme, ...this.schemes])].slice(0, most);
    writeLocalStorage(place, JSON.stringify(this.schemes));
  }
}

export const recentKinds = new RecentKinds();
