import type { Jobs } from '../../contracts/jobs.ts';
import { deliver } from '../deliver/job.ts';
import { missingWords } from './library.ts';

/** Deliveries that are looked through at once. */
const mostWaiting = 5000;

/** Makes the deliveries due that wait for the engine: it is there now, and their turn might be an hour away. */
export async function retryWaiting(jobs: Pick<Jobs, 'list' | 'retry'>): Promise<void> {
  const waiting = await jobs.list({ state: 'waiting', kind: deliver.name, limit: mostWaiting });
  const forEngine = waiting.filter(({ lastError }) => lastError?.includes(missingWords) === true);
  for (const { id } of forEngine) await jobs.retry(id);
}
