import type { Download } from '../../../../../services/contracts/downloads/api.ts';
import { downloads } from '../queue/downloads.svelte.ts';

/** Primary action of a download in the queue. */
export interface QueueRowAction {
  readonly label: 'Start' | 'Resume' | 'Pause' | 'Stop and keep';
  readonly icon: 'play' | 'pause';
  /** @throws Problem */
  readonly run: () => Promise<void>;
}

/** Returns the primary action of a download, which depends on its state. */
export function getQueueRowAction({ uid, state, live }: Download): QueueRowAction {
  if (state === 'pending') return { label: 'Start', icon: 'play', run: () => downloads.start([uid]) };
  if (state === 'paused')
    return { label: 'Resume', icon: 'play', run: () => downloads.runQueueAction('resume', [uid]) };
  // A live stream cannot be paused.
  const label = live === true && state === 'downloading' ? 'Stop and keep' : 'Pause';
  return { label, icon: 'pause', run: () => downloads.runQueueAction('pause', [uid]) };
}
