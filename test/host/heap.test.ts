import { performance } from 'node:perf_hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { giveBackWhenIdle } from '../../main/host/heap.ts';
import { control } from '../../services/control/index.ts';
import { createFakeClock } from '../support/clock.ts';
import { openTestHost } from '../support/host.ts';

const collected = vi.fn();
const worked = vi.spyOn(performance, 'eventLoopUtilization');
afterEach(() => {
  vi.unstubAllGlobals();
  collected.mockReset();
  worked.mockReset();
});

function loopWorked(share: number): void {
  worked.mockReturnValue({ idle: 1 - share, active: share, utilization: share });
}

it('the host gives back once what its start left in the heap, as soon as it is idle', () => {
  vi.stubGlobal('gc', collected);
  const clock = createFakeClock();
  loopWorked(0.5);
  giveBackWhenIdle(clock);
  clock.advance(60_000);
  expect(collected).not.toHaveBeenCalled();
  loopWorked(0.01);
  clock.advance(3_600_000);
  expect(collected).toHaveBeenCalledExactlyOnceWith({ type: 'major', execution: 'sync', flavor: 'last-resort' });
});

it('a host does so after its start, and one that ended before does not', async () => {
  vi.stubGlobal('gc', collected);
  loopWorked(0.01);
  const clock = createFakeClock();
  await (await openTestHost({ services: [control], clock }))[Symbol.asyncDispose]();
  clock.advance(10_000);
  expect(collected).not.toHaveBeenCalled();
  await using _host = await openTestHost({ services: [control], clock });
  clock.advance(10_000);
  expect(collected).toHaveBeenCalledOnce();
});
