import { keep, readKeptJson, textsOf } from './local-storage.ts';

const place = 'homeport.sidebar';

/** How this browser's person has the sidebar: which groups are folded, which pages are pinned. */
class SidebarChoice {
  #now = $state.raw(read());

  isFolded(group: string): boolean {
    return this.#now.folded.includes(group);
  }

  isPinned(page: string): boolean {
    return this.#now.pinned.includes(page);
  }

  /** The pinned pages, the last pinned first. */
  get pinned(): readonly string[] {
    return this.#now.pinned;
  }

  fold(group: string): void {
    this.#keep({ ...this.#now, folded: turned(this.#now.folded, group) });
  }

  pin(page: string): void {
    this.#keep({ ...this.#now, pinned: turned(this.#now.pinned, page) });
  }

  #keep(next: Kept): void {
    this.#now = next;
    keep(place, JSON.stringify(next));
  }
}

interface Kept {
  readonly folded: readonly string[];
  readonly pinned: readonly string[];
}

function turned(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names.filter((each) => each !== name) : [name, ...names];
}

function read(): Kept {
  const stored = readKeptJson(place);
  const { folded, pinned } = typeof stored === 'object' && stored !== null ? (stored as Partial<Kept>) : {};
  return { folded: textsOf(folded), pinned: textsOf(pinned) };
}

export const sidebar = new SidebarChoice();
