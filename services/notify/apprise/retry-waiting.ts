import type { Jobs } from '../../contracts/jobs.ts';
import { deliver } from '../deliver/job.ts';
import { forEachJob } from '../deliver/for-each-job.ts';
import { missingEngineText } from './library.ts';

/**
 * Retries the deliveries that wait for the engine. It is available now, and their next attempt may be an hour away.
 */
export async function retryEngineDeliveries(jobs: Pick<Jobs, 'list' | 'retry'>): Promise<void> {
  await forEachJob(
    jobs,
    { state: 'waiting', kind: deliver.name },
    async ({ id, lastError }) => lastError?.includes(missingEngineText) === true && jobs.retry(id),
  );
}
