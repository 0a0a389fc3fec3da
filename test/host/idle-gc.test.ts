import { execFileSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import { afterEach, expect, it, vi } from 'vitest';
import { collectWhenIdle } from '../../main/host/runtime/idle-gc.ts';
import { control } from '../../services/control/index.ts';
import { createFakeClock } from '../support/clock.ts';
import { openTestHost } from '../support/host.ts';

const collected = vi.fn();
const worked = vi.spyOn(performance, 'eventLoopUtilization');
const statistics = v8.getHeapStatistics();
const measured = vi.spyOn(v8, 'getHeapStatistics');
afterEach(() => {
  vi.unstubAllGlobals();
  collected.mockReset();
  worked.mockReset();
  measured.mockReset();
});

function loopWorked(share: number): void {
  worked.mockReturnValue({ idle: 1 - share, active: share, utilization: share });
}

it('frees memory of the start once the host is idle', () => {
  vi.stubGlobal('gc', collected);
  const clock = createFakeClock();
  measured.mockReturnValue(statistics);
  loopWorked(0.5);
  collectWhenIdle(clock);
  clock.advance(60_000);
  expect(collected).not.toHaveBeenCalled();
  loopWorked(0.01);
  clock.advance(3_600_000);
  expect(collected).toHaveBeenCalledExactlyOnceWith({ type: 'major', execution: 'sync', flavor: 'last-resort' });
});

it('frees memory of a burst once the host has been idle for a while', () => {
  vi.stubGlobal('gc', collected);
  const heapIs = (megabytes: number) =>
    measured.mockReturnValue({ ...statistics, total_heap_size: megabytes * 1024 * 1024 });
  const clock = createFakeClock();
  loopWorked(0.01);
  heapIs(60);
  collectWhenIdle(clock);
  clock.advance(5000);
  expect(collected).toHaveBeenCalledOnce();
  loopWorked(0.8);
  heapIs(200);
  clock.advance(600_000);
  expect(collected).toHaveBeenCalledOnce();
  loopWorked(0.01);
  clock.advance(25_000);
  expect(collected).toHaveBeenCalledOnce();
  collected.mockImplementation(() => heapIs(64));
  clock.advance(5000);
  expect(collected).toHaveBeenCalledTimes(2);
  clock.advance(3_600_000);
  expect(collected).toHaveBeenCalledTimes(2);
  // Simulates a burst that left little garbage.
  loopWorked(0.8);
  clock.advance(5000);
  loopWorked(0.01);
  heapIs(70);
  clock.advance(3_600_000);
  expect(collected).toHaveBeenCalledTimes(2);
});

it('runs after the start, and not after the host ended', async () => {
  vi.stubGlobal('gc', collected);
  loopWorked(0.01);
  measured.mockReturnValue(statistics);
  const clock = createFakeClock();
  await (await openTestHost({ services: [control], clock }))[Symbol.asyncDispose]();
  clock.advance(10_000);
  expect(collected).not.toHaveBeenCalled();
  await using _host = await openTestHost({ services: [control], clock });
  clock.advance(10_000);
  expect(collected).toHaveBeenCalledOnce();
});

it('works in a process that was started without flags', () => {
  const heap = new URL('../../main/host/runtime/idle-gc.ts', import.meta.url).href;
  const program = `
    const { exposeCollector } = await import('${heap}');
    const before = typeof gc;
    exposeCollector();
    let left = new Array(2e6).fill(0).map((_, at) => ({ at }));
    const full = process.memoryUsage().heapUsed;
    left = undefined;
    globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    console.log(before, full - process.memoryUsage().heapUsed > 32e6);
  `;
  const args = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env['PATH'] } })).toBe(
    'undefined true\n',
  );
});
