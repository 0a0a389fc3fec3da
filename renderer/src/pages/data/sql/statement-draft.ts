import { writeLocalStorage, readLocalStorage } from '../../../state/local-storage.ts';

const storageKey = 'homeport.data.draft';

/** Returns the unsaved statements of this browser; empty if there are none. */
export function readDraft(): string {
  return readLocalStorage(storageKey) ?? '';
}

export function storeDraft(text: string): void {
  writeLocalStorage(storageKey, text === '' ? null : text);
}
