import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createFeeds } from '../../main/host/services/feeds.ts';
import { defineFeed } from '../../services/contracts/feeds.ts';
import { silentLog } from '../support/database-location.ts';

const numbers = defineFeed('test.numbers', z.object({ n: z.int() }));

const source = (values: readonly number[]) => ({
  after: (cursor: number, limit: number) => {
    const entries = values.slice(cursor, cursor + limit).map((n) => ({ key: String(n), payload: { n } }));
    const position = cursor + entries.length;
    return Promise.resolve({ entries, position, hasMore: position < values.length });
  },
});

it('passes entries to the follower regardless of who starts first', async () => {
  const feeds = createFeeds(silentLog);
  const onGrown = vi.fn();
  using followed = feeds.follow(numbers, onGrown);
  expect(await followed.after(0, 2)).toBeUndefined();
  {
    using served = feeds.serve(numbers, source([1, 2, 3]));
    expect(onGrown).toHaveBeenCalledTimes(1);
    expect(await followed.after(1, 1)).toEqual({
      entries: [{ key: '2', payload: { n: 2 } }],
      position: 2,
      hasMore: true,
    });
    served.entriesAdded();
    expect(onGrown).toHaveBeenCalledTimes(2);
  }
  expect(await followed.after(0, 2)).toBeUndefined();
  using _again = feeds.serve(numbers, source([7]));
  expect(onGrown).toHaveBeenCalledTimes(3);
});

it('skips and logs an invalid entry and continues after it', async () => {
  const error = vi.fn();
  const feeds = createFeeds({ ...silentLog, error });
  using followed = feeds.follow(numbers, () => undefined);
  using _served = feeds.serve(numbers, source([1, 2.5, 3]));
  const page = await followed.after(0, 10);
  expect(page).toMatchObject({ entries: [{ key: '1' }, { key: '3' }], position: 3, hasMore: false });
  expect(error).toHaveBeenCalledWith(expect.any(String), expect.objectContaining({ key: '2.5' }));
});

it('allows one source and one follower', () => {
  const feeds = createFeeds(silentLog);
  using _served = feeds.serve(numbers, source([]));
  expect(() => feeds.serve(numbers, source([]))).toThrow('served already');
  using _followed = feeds.follow(numbers, () => undefined);
  expect(() => feeds.follow(numbers, () => undefined)).toThrow('followed already');
});
