import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Since } from '../domain/since.ts';
import type { MessageStore, StoredMessage } from '../store/messages.ts';
import type { DelayedMessageStore } from '../store/delayed-messages.ts';

const pageSize = 1000;

/** A stretch of history that somebody asks for. */
interface Wanted {
  readonly topics: readonly string[];
  readonly since: Since;
  /** Messages that still wait for their time are wanted too. */
  readonly scheduled: boolean;
  /** What was stored after this one is left out. */
  readonly upTo: number;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * Pages of the cached messages of some topics, by time, then by storage, and after them of those that wait for their
 * time. Between two pages others get their turn.
 */
export async function* readHistory(
  store: MessageStore,
  schedule: DelayedMessageStore,
  wanted: Wanted,
): AsyncGenerator<readonly StoredMessage[]> {
  const { topics, since, upTo, now } = wanted;
  if (since.from === 'latest') {
    const newest = await Promise.all(topics.map((topic) => store.latest(topic, upTo, now)));
    yield newest.filter((row) => row !== undefined).toSorted((a, b) => a.time - b.time || a.seq - b.seq);
    return;
  }
  if (since.from !== 'none') {
    const place =
      since.from === 'id' ? ((await store.findSeq(since.id)) ?? (await schedule.findAcceptedAfter(since.id))) : 0;
    const start = since.from === 'time' ? since.time : 0;
    yield* pagesOf(start, (after) => store.read({ topics, upTo, from: place ?? 0, after, now, limit: pageSize }));
  }
  if (wanted.scheduled) yield* pagesOf(now, (after) => schedule.read(topics, after, pageSize));
}

/** Reads page after page, from a time on, until one is not full. */
async function* pagesOf(
  time: number,
  read: (after: { readonly time: number; readonly seq: number }) => Promise<readonly StoredMessage[]>,
): AsyncGenerator<readonly StoredMessage[]> {
  let after = { time, seq: 0 };
  for (;;) {
    const page = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < pageSize) return;
    after = last;
    await nextTurn();
  }
}
