import { afterEach, expect, it, vi } from 'vitest';
import { control } from '../../services/control/index.ts';
import { createFakeClock } from '../support/clock.ts';
import { openTestHost } from '../support/host.ts';

afterEach(() => vi.unstubAllGlobals());

it('the host gives back once what its start left in the heap, and a host that ended before does not', async () => {
  const collected = vi.fn();
  vi.stubGlobal('gc', collected);
  const clock = createFakeClock();
  await (await openTestHost({ services: [control], clock }))[Symbol.asyncDispose]();
  clock.advance(10_000);
  expect(collected).not.toHaveBeenCalled();

  await using _host = await openTestHost({ services: [control], clock });
  clock.advance(10_000);
  clock.advance(3_600_000);
  expect(collected).toHaveBeenCalledExactlyOnceWith({ type: 'major', execution: 'sync', flavor: 'last-resort' });
});
