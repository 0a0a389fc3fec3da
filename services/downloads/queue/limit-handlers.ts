import type { Extractor } from '../engine/extractor.ts';
import type { LimitHandlers } from '../limits/limits.ts';
import type { Queue } from './queue.ts';

/** Applies the speed limit and the allowed hours to the downloads of the queue. */
export function createLimitHandlers(extractor: Extractor, queue: Queue): LimitHandlers {
  return {
    async speed(limit) {
      const mustRestart = await extractor.limit(
        limit === null ? null : { total: limit, perRun: Math.floor(limit / queue.maxRunning) },
      );
      if (mustRestart) await queue.restart();
    },
    opened: () => queue.wake(),
    closed: async () => await queue.stopOutsideHours(),
  };
}
