import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Since } from './domain/since.ts';
import type { MessageStore, StoredMessage } from './store/messages.ts';

const pageSize = 500;

/**
 * Pages of the cached messages of some topics, by time, then by storage, none stored after `upTo`. Between two pages
 * others get their turn. `now` in unix seconds.
 */
export async function* readHistory(
  store: MessageStore,
  { topics, since, upTo, now }: { topics: readonly string[]; since: Since; upTo: number; now: number },
): AsyncGenerator<readonly StoredMessage[]> {
  if (since.from === 'none') return;
  if (since.from === 'latest') {
    const newest = await Promise.all(topics.map((topic) => store.latest(topic, upTo, now)));
    yield newest.filter((row) => row !== undefined).toSorted((a, b) => a.time - b.time || a.seq - b.seq);
    return;
  }
  const from = since.from === 'id' ? ((await store.seqOf(since.id)) ?? 0) : 0;
  let after = { time: since.from === 'time' ? since.time : 0, seq: 0 };
  for (;;) {
    const page = await store.read({ topics, upTo, from, after, now, limit: pageSize });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < pageSize) return;
    after = last;
    await nextTurn();
  }
}
