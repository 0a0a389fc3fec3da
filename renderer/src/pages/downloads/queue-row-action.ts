import type { Download } from '../../../../services/contracts/downloads/api.ts';
import { downloads } from './downloads.svelte.ts';

/** What one does next with a download of the queue. */
export interface QueueStep {
  readonly label: 'Start' | 'Resume' | 'Pause' | 'Stop and keep';
  readonly icon: 'play' | 'pause';
  /** @throws Problem */
  readonly run: () => Promise<void>;
}

/** The one step that a download of the queue has in its state. */
export function queueStep({ uid, state, live }: Download): QueueStep {
  if (state === 'pending') return { label: 'Start', icon: 'play', run: () => downloads.start([uid]) };
  if (state === 'paused') return { label: 'Resume', icon: 'play', run: () => downloads.steer('resume', [uid]) };
  // A live stream does not wait for anybody.
  const label = live === true && state === 'downloading' ? 'Stop and keep' : 'Pause';
  return { label, icon: 'pause', run: () => downloads.steer('pause', [uid]) };
}
