import * as m from '#messages/data-sql';
import { z } from 'zod';
import { toAccountKey } from '../../../state/account-storage.ts';
import { writeLocalStorage, readLocalStorageJson } from '../../../state/local-storage.ts';

/** Statements can contain data, so they are stored separately for each account of the browser. */
const getStorageKey = (account: string): string => toAccountKey('homeport.data.history', account);
const maxEntries = 200;

const Entry = z.object({
  text: z.string(),
  /** Start time in ms since the epoch; 0 if it is unknown. */
  at: z.number(),
  /** Role of the statements. */
  role: z.string(),
  ms: z.number(),
  /** PostgreSQL error message; empty on success. */
  refusal: z.string(),
});
/** Statements that the account ran together in this browser. */
export type HistoryEntry = z.infer<typeof Entry>;

/** Format of entries stored by earlier versions. */
const Text = z.string().transform((text): HistoryEntry => ({ text, at: 0, role: 'owner', ms: 0, refusal: '' }));
const StoredHistory = z.array(z.union([Entry, Text]));

/** Returns the statements that the account ran in this browser, newest first. */
export function readHistory(account: string): readonly HistoryEntry[] {
  return StoredHistory.safeParse(readLocalStorageJson(getStorageKey(account))).data ?? [];
}

/** Stored instead of an error message when the user cancelled the statements. */
export const cancelled = 'cancelled';

/** Formats the outcome of failed statements as one word. */
export function formatOutcome(refusal: string): string {
  return refusal === cancelled ? m.outcomeCancelled() : m.outcomeRefused();
}

export function addToHistory(account: string, entry: HistoryEntry): readonly HistoryEntry[] {
  return storeHistory(
    account,
    [entry, ...readHistory(account).filter(({ text }) => text !== entry.text)].slice(0, maxEntries),
  );
}

export function clearHistory(account: string): readonly HistoryEntry[] {
  return storeHistory(account, []);
}

function storeHistory(account: string, entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  writeLocalStorage(getStorageKey(account), JSON.stringify(entries));
  return entries;
}
