import type { Download } from '../../../../services/contracts/downloads.ts';
import { bytes, duration } from '../../parts/format.ts';

const words: Readonly<Record<Download['state'], string>> = {
  pending: 'Waiting for its start',
  waiting: 'Waiting for its turn',
  preparing: 'Looking at the page',
  downloading: 'Downloading',
  postprocessing: 'Putting the file together',
  paused: 'Paused',
  finished: 'Finished',
  failed: 'Failed',
};

/** What is going on, in words: `Downloading 62 %, 3.1 MB/s, 0:42 left`. */
export function stage({ state, percent, speed, eta, message }: Download): string {
  if (state !== 'downloading') return message ?? words[state];
  const parts = [percent === null ? words.downloading : `${words.downloading} ${String(Math.floor(percent))} %`];
  if (speed !== null) parts.push(`${bytes(speed)}/s`);
  if (eta !== null) parts.push(`${duration(eta)} left`);
  return parts.join(', ');
}
