import { readLocalStorage, writeLocalStorage } from './local-storage.ts';

/**
 * Returns the name under which an account stores a value in the browser. A value of earlier versions, which did not
 * separate accounts, goes to the account that reads it first.
 */
export function toAccountKey(name: string, account: string): string {
  const key = `${name} ${account}`;
  const shared = readLocalStorage(name);
  if (shared !== null) {
    if (readLocalStorage(key) === null) writeLocalStorage(key, shared);
    writeLocalStorage(name, null);
  }
  return key;
}
