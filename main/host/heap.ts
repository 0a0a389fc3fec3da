import { performance } from 'node:perf_hooks';
import type { Clock } from '../../services/contracts/service.ts';

const lookMs = 5000;
/** Share of the time that the loop may have worked: who is at work is not interrupted. */
const idleShare = 0.1;

/**
 * Gives back once, as soon as the host is idle, what its start left in the heap, a fifth of it: V8 does so only under
 * pressure, which an idle host never makes. It takes a tenth of a second of the loop. Nothing happens where Node was not
 * told to `--expose-gc`.
 */
export function giveBackWhenIdle(clock: Clock): Disposable {
  let before = performance.eventLoopUtilization();
  const looking = clock.every(lookMs, () => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > idleShare) return;
    looking[Symbol.dispose]();
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  });
  return looking;
}
