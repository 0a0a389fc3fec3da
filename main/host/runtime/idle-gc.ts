import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../../services/contracts/service.ts';

const lookMs = 5000;
/** Share of the time that the loop may have worked: who is at work is not interrupted. */
const idleShare = 0.1;
/** After work the loop has to be idle for so many looks; what comes every few seconds comes again. */
const idleLooks = 6;
/** Bytes by which the heap must have grown, for less it is not worth the while. */
const worthwhile = 16 * 1024 * 1024;

/**
 * Gives back what a start or a burst of work left in the heap, once the host is idle: V8 does so only under pressure,
 * which an idle host never makes. It takes a tenth of a second of the loop. After the start that is a fifth of the heap;
 * after a burst it is mostly the young generation, which `npm start` lets grow to a size that spares much of the
 * collector's work. Nothing happens where Node was not told to `--expose-gc`, nor by {@link exposeCollector}.
 */
export function collectWhenIdle(clock: Clock): Disposable {
  let before = performance.eventLoopUtilization();
  let isStart = true;
  let looks = 0;
  let least = 0;
  return clock.every(lookMs, () => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    looks = utilization > idleShare ? 0 : looks + 1;
    if (looks !== (isStart ? 1 : idleLooks)) return;
    if (!isStart && heapSize() < least + worthwhile) return;
    isStart = false;
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    least = heapSize();
  });
}

/** What `--expose-gc` does, for a process whose start is not ours to give flags to. */
export function exposeCollector(): void {
  if (globalThis.gc !== undefined) return;
  v8.setFlagsFromString('--expose-gc');
  // Only contexts that are made from now on have it.
  globalThis.gc = runInNewContext('gc') as NodeJS.GCFunction;
}

function heapSize(): number {
  return v8.getHeapStatistics().total_heap_size;
}
