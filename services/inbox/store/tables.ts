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
    picture: string | null;
    /** ms since the epoch. */
    time: number;
    read: 0 | 1;
    done: 0 | 1;
    /** Text for searches until the row is indexed in `item_words`; then empty. */
    search: string;
    /** See `repeats.ts`; null in rows of older versions. */
    likeness: number | null;
    since: number | null;
    latest: Generated<0 | 1>;
    /** Last change that can be undone, and the row's state before it as bits: 1 read, 2 done. */
    change: number | null;
    was: number | null;
  };
  item_words: { words: unknown };
  /** `item` is the row of the offer; null for keys of older versions. */
  offers: { key: string; time: number; item: number | null };
}

export const itemColumns = [
  'id',
  'title',
  'body',
  'format',
  'priority',
  'tags',
  'source',
  'topic',
  'link',
  'picture',
  'time',
  'read',
  'done',
] as const;

export function toItem(row: Pick<Selectable<Tables['items']>, (typeof itemColumns)[number]>): InboxItem {
  const { picture, ...rest } = row;
  return InboxItem.parse({
    ...rest,
    ...(picture === null ? {} : { picture }),
    tags: JSON.parse(row.tags),
    read: row.read === 1,
    done: row.done === 1,
  });
}

/** Converts a boolean to its column value. */
export function toBit(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
