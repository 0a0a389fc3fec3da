import { z } from 'zod';
import { writeLocalStorage, readLocalStorageJson } from '../../state/local-storage.ts';

const name = 'homeport.data.history';
const most = 200;

const Entry = z.object({
  text: z.string(),
  /** ms since the epoch; 0: it is not known. */
  at: z.number(),
  /** Whom it ran as. */
  role: z.string(),
  ms: z.number(),
  /** What PostgreSQL refused it with; empty: it was done. */
  refusal: z.string(),
});
/** Statements that were run together from this browser. */
export type HistoryEntry = z.infer<typeof Entry>;

/** What an earlier version kept. */
const Text = z.string().transform((text): HistoryEntry => ({ text, at: 0, role: 'owner', ms: 0, refusal: '' }));
const Kept = z.array(z.union([Entry, Text]));

/** Statements that were run in this browser, the newest first. */
export function readHistory(): readonly HistoryEntry[] {
  return Kept.safeParse(readLocalStorageJson(name)).data ?? [];
}

/** In place of a refusal: the person who ran them took them back. */
export const cancelled = 'cancelled';

/** How statements ended that were not done, in a word. */
export function endOf(refusal: string): string {
  return refusal === cancelled ? cancelled : 'refused';
}

export function addToHistory(entry: HistoryEntry): readonly HistoryEntry[] {
  return kept([entry, ...readHistory().filter(({ text }) => text !== entry.text)].slice(0, most));
}

export function forgetHistory(): readonly HistoryEntry[] {
  return kept([]);
}

function kept(all: readonly HistoryEntry[]): readonly HistoryEntry[] {
  writeLocalStorage(name, JSON.stringify(all));
  return all;
}
