import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Since } from '../domain/since.ts';
import type { MessageStore, StoredMessage } from '../store/messages.ts';
import type { DelayedMessageStore } from '../store/delayed-messages.ts';

const pageSize = 1000;

/** Range of history requested by a client. */
interface HistoryRequest {
  readonly topics: readonly string[];
  readonly since: Since;
  /** Includes delayed messages. */
  readonly scheduled: boolean;
  /** Excludes messages stored after this one. */
  readonly upTo: number;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * Yields pages of cached messages, ordered by time and storage, followed by delayed messages if requested. Yields to
 * the event loop between pages.
 */
export async function* readHistory(
  store: MessageStore,
  delayedMessages: DelayedMessageStore,
  request: HistoryRequest,
): AsyncGenerator<readonly StoredMessage[]> {
  const { topics, since, upTo, now } = request;
  if (since.from === 'latest') {
    const newest = await Promise.all(topics.map((topic) => store.latest(topic, upTo, now)));
    yield newest.filter((row) => row !== undefined).toSorted((a, b) => a.time - b.time || a.seq - b.seq);
    return;
  }
  if (since.from !== 'none') {
    const position =
      since.from === 'id'
        ? ((await store.findSeq(since.id)) ?? (await delayedMessages.findAcceptedAfter(since.id)))
        : 0;
    const start = since.from === 'time' ? since.time : 0;
    yield* readPages(start, (after) => store.read({ topics, upTo, from: position ?? 0, after, now, limit: pageSize }));
  }
  if (request.scheduled) yield* readPages(now, (after) => delayedMessages.read(topics, after, pageSize));
}

/** Reads page after page from a time until a page is not full. */
async function* readPages(
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
