import { z } from 'zod';

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
  try {
    return Kept.safeParse(JSON.parse(localStorage.getItem(name) ?? '[]')).data ?? [];
  } catch {
    // A browser that keeps nothing, or somebody else's text under our name: there is no history then.
    return [];
  }
}

export function addToHistory(entry: HistoryEntry): readonly HistoryEntry[] {
  return keep([entry, ...readHistory().filter(({ text }) => text !== entry.text)].slice(0, most));
}

export function forgetHistory(): readonly HistoryEntry[] {
  return keep([]);
}

function keep(all: readonly HistoryEntry[]): readonly HistoryEntry[] {
  try {
    localStorage.setItem(name, JSON.stringify(all));
  } catch {
    // It is a convenience: without room it ends with this page.
  }
  return all;
}
