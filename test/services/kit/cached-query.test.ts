import { describe, expect, it } from 'vitest';
import { CachedQuery } from '../../../services/kit/cached-query.ts';
import { createFakeClock } from '../../support/clock.ts';

/** A reading that takes so many ms by the stopwatch, and counts itself. */
function reading(tookMs: number) {
  const clock = createFakeClock();
  let [hour, time, reads, renewed] = ['9', 0, 0, 0];
  const kept = new CachedQuery({
    clock,
    key: () => hour,
    onRefreshDue: () => (renewed += 1),
    stopwatch: () => time,
    read: async () => {
      const mine = (reads += 1);
      time += tookMs;
      return Promise.resolve(mine);
    },
  });
  return {
    ...{ clock, kept },
    pass: (ms: number) => (time += ms),
    turn: (next: string) => (hour = next),
    renewed: () => renewed,
  };
}

describe('a kept reading', () => {
  it('reads again when something changed or its key is another, and not else', async () => {
    const { kept, turn } = reading(5);
    expect([await kept.get(), await kept.get()]).toEqual([1, 1]);
    kept.invalidate();
    expect([await kept.get(), await kept.get()]).toEqual([2, 2]);
    turn('10');
    expect(await kept.get()).toBe(3);
  });

  it('rests in proportion to what it cost, and says when a newer answer is due', async () => {
    const { kept, clock, pass, renewed } = reading(1000);
    expect(await kept.get()).toBe(1);
    kept.invalidate();
    expect(await kept.get()).toBe(1);
    pass(14_999);
    expect(await kept.get()).toBe(1);
    expect(renewed()).toBe(0);
    clock.advance(15_000);
    expect(renewed()).toBe(1);
    pass(1);
    expect(await kept.get()).toBe(2);
  });

  it('is one for all that ask at once, unless something changed since it began', async () => {
    const { kept } = reading(1);
    const first = [kept.get(), kept.get()];
    kept.invalidate();
    expect(await Promise.all([...first, kept.get(), kept.get()])).toEqual([1, 1, 2, 2]);
  });

  it('tries again after one that failed', async () => {
    let fails = true;
    const read = (): Promise<string> => (fails ? Promise.reject(new Error('gone')) : Promise.resolve('there'));
    const kept = new CachedQuery({ clock: createFakeClock(), key: () => '', onRefreshDue: () => undefined, read });
    await expect(kept.get()).rejects.toThrow('gone');
    fails = false;
    expect(await kept.get()).toBe('there');
  });
});
