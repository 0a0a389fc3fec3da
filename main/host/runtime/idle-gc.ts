import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../../services/contracts/service.ts';

const pollIntervalMs = 5000;
/** Maximum share of time in which the loop was busy, so that work is not interrupted. */
const idleShare = 0.1;
/** Number of consecutive idle checks after work; periodic work of a few seconds repeats. */
const idleLooks = 6;
/** Minimum growth of the heap in bytes that makes a collection worthwhile. */
const minGrowthBytes = 16 * 1024 * 1024;

/**
 * Collects garbage of a start or a burst of work once the host is idle: V8 does so only under pressure, which an idle
 * host never has. It takes a tenth of a second of the loop. After the start it frees a fifth of the heap; after a
 * burst mostly the young generation, which `npm start` enlarges to save collector work. Does nothing unless Node has
 * `--expose-gc` or {@link exposeCollector} was called.
 */
export function collectWhenIdle(clock: Clock): Disposable {
  let before = performance.eventLoopUtilization();
  let isStart = true;
  let checks = 0;
  let least = 0;
  return clock.every(pollIntervalMs, () => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    checks = utilization > idleShare ? 0 : checks + 1;
    if (checks !== (isStart ? 1 : idleLooks)) return;
    if (!isStart && heapSize() < least + minGrowthBytes) return;
    isStart = false;
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    least = heapSize();
  });
}

/** Enables garbage collection like `--expose-gc`, for a process without control over its flags. */
export function exposeCollector(): void {
  if (globalThis.gc !== undefined) return;
  v8.setFlagsFromString('--expose-gc');
  // Only contexts created from now on have it.
  globalThis.gc = runInNewContext('gc') as NodeJS.GCFunction;
}

function heapSize(): number {
  return v8.getHeapStatistics().total_heap_size;
}
