import type { Generated, Selectable } from 'kysely';
import { InboxItem } from '../../contracts/inbox/api.ts';

export interface Tables {
  items: {
    id: Generated<number>;
    title: string;
    body: string;
    format: InboxItem['format'];
    priority: number;
    /** JSON list. */
    tags: string;
    source: string;
    topic: string;
    link: string | null;
    /** ms since the epoch. */
    time: number;
    read: 0 | 1;
    done: 0 | 1;
    /** What a search looks at until the words are in `item_words`; then empty. */
    search: string;
    /** See `repeats.ts`; null in rows from before. */
    likeness: number | null;
    since: number | null;
    latest: Generated<0 | 1>;
    /** The last change that can be taken back, and what the row was before it: 1 read, 2 put away. */
    change: number | null;
    was: number | null;
  };
  item_words: { words: unknown };
  /** `item`: the row that came of it; null before rows were noted. */
  offers: { key: string; time: number; item: number | null };
}

export const shown = [
  'id',
  'title',
  'body',
  'format',
  'priority',
  'tags',
  'source',
  'topic',
  'link',
  'time',
  'read',
  'done',
] as const;

export function itemOf(row: Pick<Selectable<Tables['items']>, (typeof shown)[number]>): InboxItem {
  return InboxItem.parse({ ...row, tags: JSON.parse(row.tags), read: row.read === 1, done: row.done === 1 });
}

/** Yes and no, as the tables have them. */
export function bit(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
