import { writeLocalStorage, readLocalStorageJson, toStrings } from '../state/local-storage.ts';

const storageKey = 'homeport.sidebar';

/** State of the sidebar in this browser: folded groups and pinned pages. */
class SidebarState {
  #state = $state.raw(readStored());

  isFolded(group: string): boolean {
    return this.#state.folded.includes(group);
  }

  isPinned(page: string): boolean {
    return this.#state.pinned.includes(page);
  }

  /** Pinned pages, the most recently pinned first. */
  get pinned(): readonly string[] {
    return this.#state.pinned;
  }

  toggleFolded(group: string): void {
    this.#update({ ...this.#state, folded: toggleName(this.#state.folded, group) });
  }

  togglePinned(page: string): void {
    this.#update({ ...this.#state, pinned: toggleName(this.#state.pinned, page) });
  }

  #update(next: StoredSidebar): void {
    this.#state = next;
    writeLocalStorage(storageKey, JSON.stringify(next));
  }
}

interface StoredSidebar {
  readonly folded: readonly string[];
  readonly pinned: readonly string[];
}

function toggleName(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names.filter((each) => each !== name) : [name, ...names];
}

function readStored(): StoredSidebar {
  const stored = readLocalStorageJson(storageKey);
  const { folded, pinned } = typeof stored === 'object' && stored !== null ? (stored as Partial<StoredSidebar>) : {};
  return { folded: toStrings(folded), pinned: toStrings(pinned) };
}

export const sidebar = new SidebarState();
