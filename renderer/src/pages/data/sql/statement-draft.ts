import { toAccountKey } from '../../../state/account-storage.ts';
import { writeLocalStorage, readLocalStorage } from '../../../state/local-storage.ts';

const getStorageKey = (account: string): string => toAccountKey('homeport.data.draft', account);

/** Returns the unsaved statements of the account in this browser; empty if there are none. */
export function readDraft(account: string): string {
  return readLocalStorage(getStorageKey(account)) ?? '';
}

export function storeDraft(account: string, text: string): void {
  writeLocalStorage(getStorageKey(account), text === '' ? null : text);
}
