import type { Jobs } from '../../contracts/jobs.ts';
import { deliver } from './job.ts';
import { forEachJob } from './for-each-job.ts';
import type { NotificationStore } from '../store/notifications.ts';

/** Retries the deliveries that wait for the engine, after it became available. Their next attempt may be an hour away. */
export async function retryEngineDeliveries(
  jobs: Pick<Jobs, 'list' | 'retry'>,
  notifications: Pick<NotificationStore, 'listWaitingKeys'>,
): Promise<void> {
  const keys = await notifications.listWaitingKeys('needs_engine');
  await forEachJob(
    jobs,
    { state: 'waiting', kind: deliver.name },
    async ({ id, key }) => key !== null && keys.has(key) && jobs.retry(id),
  );
}
