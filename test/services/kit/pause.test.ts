import { describe, expect, it } from 'vitest';
import { pauseFor } from '../../../services/kit/pause.ts';
import { createFakeClock } from '../../support/clock.ts';

describe('pauseFor', () => {
  it('resolves after the time', async () => {
    const clock = createFakeClock();
    let hasEnded = false;
    const pause = pauseFor(500, clock, new AbortController().signal).then(() => (hasEnded = true));
    clock.advance(499);
    await Promise.resolve();
    expect(hasEnded).toBe(false);
    clock.advance(1);
    await pause;
  });

  it('resolves at an abort and ends its timer', async () => {
    const clock = createFakeClock();
    const abort = new AbortController();
    const pause = pauseFor(500, clock, abort.signal);
    expect(clock.getDelays()).toEqual([500]);
    abort.abort();
    await pause;
    expect(clock.getDelays()).toEqual([]);
    await pauseFor(500, clock, abort.signal);
  });
});
