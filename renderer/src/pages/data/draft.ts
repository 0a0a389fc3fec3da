import { writeLocalStorage, readLocalStorage } from '../../state/local-storage.ts';

const name = 'homeport.data.draft';

/** The statements that were being written when this browser left their page; empty: none. */
export function readDraft(): string {
  return readLocalStorage(name) ?? '';
}

export function keepDraft(text: string): void {
  writeLocalStorage(name, text === '' ? null : text);
}
