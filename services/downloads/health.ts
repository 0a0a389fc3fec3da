import * as m from '#messages/downloads-texts';
import type { Health } from '../contracts/health.ts';
import type { Context } from '../contracts/service.ts';
import type { OptionFiles } from './add/option-files.ts';
import type { EngineMonitor } from './engine/engine-monitor.ts';
import type { MetubeDependencies } from './metube-api/listener.ts';
import type { Queue } from './queue/queue.ts';
import { DownloadStore } from './store/store.ts';

/** Returns a function for the health, with running downloads and, before the first one, a suggestion. */
export function createHealth(
  context: Context,
  { queueing: { engine, queue }, downloads: { live } }: Pick<MetubeDependencies, 'downloads' | 'queueing'>,
  optionFiles: OptionFiles,
): () => Promise<Health> {
  /** Remains true after the first download, so that the suggestion to begin is not shown again. */
  let hasAny = false;
  return async () => {
    const health = getState(queue, engine, optionFiles);
    if (health.state !== 'up') return health;
    const running = [...engine.running, ...live.running].slice(0, 5);
    const withRunning = running.length > 0 ? { ...health, running } : health;
    hasAny ||= await new DownloadStore(context.db).hasAny();
    return hasAny ? withRunning : { ...withRunning, begin: { label: m.downloadVideo, to: '/downloads' } };
  };
}

function getState(queue: Queue, engine: EngineMonitor, optionFiles: OptionFiles): Health {
  if (engine.health !== undefined) return engine.health;
  if (optionFiles.problem !== undefined) return { state: 'degraded', detail: () => optionFiles.problem ?? '' };
  if (optionFiles.ignoredOptions !== undefined) {
    const remedy = { label: m.correctOptions, to: '/settings/downloads/ytdlOptions', adminOnly: true } as const;
    return { state: 'degraded', detail: () => optionFiles.ignoredOptions ?? '', remedy };
  }
  const count = queue.active;
  return { state: 'up', detail: count === 0 ? m.idle : () => m.downloading({ count }) };
}
