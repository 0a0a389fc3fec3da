import { parseJson } from '../../../services/contracts/parse-json.ts';

/**
 * Reads a value from local storage. Browsers may refuse storage and then throw; values last as long as the page in
 * this case.
 */
export function readLocalStorage(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Writes a value; null removes it. */
export function writeLocalStorage(name: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // The storage is full or refused.
  }
}

/** Reads a JSON value; undefined where there is none or the text is not JSON. */
export function readLocalStorageJson(name: string): unknown {
  return parseJson(readLocalStorage(name) ?? 'null') ?? undefined;
}

/** Returns the strings of a list that was read as JSON. */
export function toStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}
