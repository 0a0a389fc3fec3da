import * as m from '#messages/data-sql';
import { z } from 'zod';
import { writeLocalStorage, readLocalStorageJson } from '../../../state/local-storage.ts';

const storageKey = 'homeport.data.history';
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
/** Statements that were run together in this browser. */
export type HistoryEntry = z.infer<typeof Entry>;

/** Format of entries stored by earlier versions. */
const Text = z.string().transform((text): HistoryEntry => ({ text, at: 0, role: 'owner', ms: 0, refusal: '' }));
const StoredHistory = z.array(z.union([Entry, Text]));

/** Returns the statements run in this browser, newest first. */
export function readHistory(): readonly HistoryEntry[] {
  return StoredHistory.safeParse(readLocalStorageJson(storageKey)).data ?? [];
}

/** Stored instead of an error message when the user cancelled the statements. */
export const cancelled = 'cancelled';

/** Formats the outcome of failed statements as one word. */
export function formatOutcome(refusal: string): string {
  return refusal === cancelled ? m.outcomeCancelled() : m.outcomeRefused();
}

export function addToHistory(entry: HistoryEntry): readonly HistoryEntry[] {
  return storeHistory([entry, ...readHistory().filter(({ text }) => text !== entry.text)].slice(0, maxEntries));
}

export function clearHistory(): readonly HistoryEntry[] {
  return storeHistory([]);
}

function storeHistory(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  writeLocalStorage(storageKey, JSON.stringify(entries));
  return entries;
}
