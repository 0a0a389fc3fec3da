import { describe, expect, it } from 'vitest';
import { CachedQuery } from '../../../services/kit/cached-query.ts';
import { createFakeClock } from '../../support/clock.ts';

/** Creates a query that takes a given time by the stopwatch and counts its executions. */
function reading(tookMs: number) {
  const clock = createFakeClock();
  let [hour, time, reads, renewed] = ['9', 0, 0, 0];
  const query = new CachedQuery({
    clock,
    key: () => hour,
    onRefreshDue: () => (renewed += 1),
    stopwatch: () => time,
    read: async () => {
      const readNumber = (reads += 1);
      time += tookMs;
      return Promise.resolve(readNumber);
    },
  });
  return {
    ...{ clock, kept: query },
    pass: (ms: number) => (time += ms),
    turn: (next: string) => (hour = next),
    renewed: () => renewed,
  };
}

describe('CachedQuery', () => {
  it('queries again only after a change or with another key', async () => {
    const { kept: query, turn } = reading(5);
    expect([await query.get(), await query.get()]).toEqual([1, 1]);
    query.invalidate();
    expect([await query.get(), await query.get()]).toEqual([2, 2]);
    turn('10');
    expect(await query.get()).toBe(3);
  });

  it('pauses in proportion to the duration and reports when a refresh is due', async () => {
    const { kept: query, clock, pass, renewed } = reading(1000);
    expect(await query.get()).toBe(1);
    query.invalidate();
    expect(await query.get()).toBe(1);
    pass(14_999);
    expect(await query.get()).toBe(1);
    expect(renewed()).toBe(0);
    clock.advance(15_000);
    expect(renewed()).toBe(1);
    pass(1);
    expect(await query.get()).toBe(2);
  });

  it('shares a running query unless data changed since its start', async () => {
    const { kept: query } = reading(1);
    const first = [query.get(), query.get()];
    query.invalidate();
    expect(await Promise.all([...first, query.get(), query.get()])).toEqual([1, 1, 2, 2]);
  });

  it('retries after a failed query', async () => {
    let fails = true;
    const read = (): Promise<string> => (fails ? Promise.reject(new Error('gone')) : Promise.resolve('there'));
    const query = new CachedQuery({ clock: createFakeClock(), key: () => '', onRefreshDue: () => undefined, read });
    await expect(query.get()).rejects.toThrow('gone');
    fails = false;
    expect(await query.get()).toBe('there');
  });
});
