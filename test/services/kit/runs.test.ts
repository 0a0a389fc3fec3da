import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CoalescedRun } from '../../../services/kit/coalesced-run.ts';
import { RepeatingTask } from '../../../services/kit/repeating-task.ts';
import { getLanguage } from '../../../messages/language.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';
import { SingleFlight } from '../../../services/kit/single-flight.ts';
import { createFakeClock } from '../../support/clock.ts';

/** Task whose runs end on request. */
function createTask() {
  const runs: PromiseWithResolvers<number>[] = [];
  return {
    runs,
    start: (): Promise<number> => {
      const run = Promise.withResolvers<number>();
      runs.push(run);
      return run.promise;
    },
    /** Ends the newest run with its number. */
    async end(): Promise<void> {
      runs.at(-1)?.resolve(runs.length);
      await nextTurn();
    },
    async fail(): Promise<void> {
      runs.at(-1)?.reject(new Error('failed'));
      await nextTurn();
    },
  };
}

describe('SingleFlight', () => {
  it('runs in English for all callers, whatever the language of the first one', async () => {
    const flight = new SingleFlight(async () => getLanguage());
    expect(await runInLanguage({ language: 'de', locale: 'de' }, () => flight.run())).toBe('en');
  });

  it('lets calls join the run in progress', async () => {
    const task = createTask();
    const flight = new SingleFlight(task.start);
    const calls = [flight.run(), flight.run()];
    expect(flight.isRunning).toBe(true);
    await task.end();
    expect(await Promise.all(calls)).toEqual([1, 1]);
    expect(flight.isRunning).toBe(false);
    const next = flight.run();
    await task.end();
    expect(await next).toBe(2);
  });

  it('starts a further run for calls whose input is newer than the run in progress, and shares it', async () => {
    const task = createTask();
    const flight = new SingleFlight(task.start);
    const first = flight.run();
    const later = [flight.runAgain(), flight.runAgain()];
    await task.end();
    expect(await first).toBe(1);
    await task.end();
    expect(await Promise.all(later)).toEqual([2, 2]);
  });

  it('runs again after a failure, which every caller receives', async () => {
    const task = createTask();
    const flight = new SingleFlight(task.start);
    const calls = Promise.allSettled([flight.run(), flight.run()]);
    const settled = flight.settled();
    await task.fail();
    await settled;
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = flight.runAgain();
    await nextTurn();
    await task.end();
    expect(await next).toBe(2);
  });
});

describe('CoalescedRun', () => {
  it('runs once more after any number of requests during a run', async () => {
    const task = createTask();
    const run = new CoalescedRun(async () => void (await task.start()));
    run.request();
    run.request();
    run.request();
    await task.end();
    expect(task.runs).toHaveLength(2);
    await task.end();
    await run.settled();
    expect(task.runs).toHaveLength(2);
    run.request();
    expect(task.runs).toHaveLength(3);
  });

  it('waits for the run in progress at its disposal and begins no further one', async () => {
    const task = createTask();
    const run = new CoalescedRun(async () => void (await task.start()));
    run.request();
    run.request();
    let isDisposed = false;
    const disposal = run[Symbol.asyncDispose]().then(() => (isDisposed = true));
    await nextTurn();
    expect(isDisposed).toBe(false);
    await task.end();
    await disposal;
    run.request();
    expect(task.runs).toHaveLength(1);
  });
});

describe('SerialQueue', () => {
  it('runs tasks in order, one at a time, and returns their results', async () => {
    const queue = new SerialQueue();
    const [first, second] = [createTask(), createTask()];
    const results = [queue.run(first.start), queue.run(second.start)];
    await nextTurn();
    expect([first.runs.length, second.runs.length]).toEqual([1, 0]);
    await first.end();
    expect(second.runs).toHaveLength(1);
    await second.end();
    expect(await Promise.all(results)).toEqual([1, 1]);
  });

  it('continues after a failed task, whose caller receives the error', async () => {
    const queue = new SerialQueue();
    const failure = queue.run(() => Promise.reject(new Error('failed')));
    const next = queue.run(() => Promise.resolve('next'));
    await expect(failure).rejects.toThrow('failed');
    expect(await next).toBe('next');
    await queue.settled();
  });
});

describe('RepeatingTask', () => {
  function createRepeating() {
    const clock = createFakeClock();
    const task = createTask();
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    return { clock, task, errors, repeating: new RepeatingTask(task.start, { clock, intervalMs: 1000, onError }) };
  }

  it('runs at each interval and skips turns during a run', async () => {
    const { clock, task } = createRepeating();
    clock.advance(999);
    expect(task.runs).toHaveLength(0);
    clock.advance(10_001);
    expect(task.runs).toHaveLength(1);
    await task.end();
    clock.advance(1000);
    expect(task.runs).toHaveLength(2);
  });

  it('runs on request, unless it is running', async () => {
    const { task, repeating } = createRepeating();
    repeating.trigger();
    repeating.trigger();
    expect(task.runs).toHaveLength(1);
    await task.end();
  });

  it('reports a failure and continues', async () => {
    const { clock, task, errors } = createRepeating();
    clock.advance(1000);
    await task.fail();
    expect(errors).toEqual([new Error('failed')]);
    clock.advance(1000);
    expect(task.runs).toHaveLength(2);
  });

  it('waits for the run in progress at its disposal and begins no further one', async () => {
    const { clock, task, repeating } = createRepeating();
    clock.advance(1000);
    let isDisposed = false;
    const disposal = repeating[Symbol.asyncDispose]().then(() => (isDisposed = true));
    await nextTurn();
    expect(isDisposed).toBe(false);
    await task.end();
    await disposal;
    clock.advance(10_000);
    repeating.trigger();
    expect(task.runs).toHaveLength(1);
  });
});
