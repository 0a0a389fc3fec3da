import * as m from '#messages/downloads';
import type { Download } from '../../../../../../services/contracts/downloads/api.ts';
import { downloads } from '../../queue/downloads.svelte.ts';

/** Primary action of a download in the queue. */
export interface QueueRowAction {
  readonly label: string;
  readonly icon: 'play' | 'pause';
  /** @throws Problem */
  readonly run: () => Promise<void>;
}

/** Returns the primary action of a download, which depends on its state. */
export function getQueueRowAction({ uid, state, live }: Download): QueueRowAction {
  if (state === 'pending') return { label: m.start(), icon: 'play', run: () => downloads.start([uid]) };
  if (state === 'paused')
    return { label: m.resume(), icon: 'play', run: () => downloads.runQueueAction('resume', [uid]) };
  // A live stream cannot be paused.
  const label = live === true && state === 'downloading' ? m.stopAndKeep() : m.pause();
  return { label, icon: 'pause', run: () => downloads.runQueueAction('pause', [uid]) };
}
