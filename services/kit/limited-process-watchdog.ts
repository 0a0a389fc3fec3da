import { workerData } from 'node:worker_threads';
import type { WatchdogData } from './limited-process-messages.ts';

/**
 * Ends the child from a thread, also while an endless loop keeps its event loop busy: when its parent is gone, when an
 * evaluation exceeds its time, and when memory outside the heap exceeds the limit.
 */
const { deadline, maxResidentBytes, parent } = workerData as WatchdogData;
const checkEveryMs = 100;

setInterval(() => {
  const endsAt = Atomics.load(deadline, 0);
  const isLate = endsAt !== 0 && Date.now() / 1000 > endsAt;
  const isTooLarge = process.memoryUsage.rss() > maxResidentBytes;
  if (isLate || isTooLarge || process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, checkEveryMs);
