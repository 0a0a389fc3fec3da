import { engineProgress } from '../../contracts/control/engines.ts';
import type { Jobs } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import { deliver } from './job.ts';
import { forEachJob } from './for-each-job.ts';
import type { NotificationStore } from '../store/notifications.ts';

/** Retries the deliveries that wait for the engine once it is installed. `onChange` is called when it changed. */
export function followEngine(
  { bus, jobs, log }: Pick<Context, 'bus' | 'jobs' | 'log'>,
  engine: EngineDestinations,
  notifications: NotificationStore,
  onChange: () => void,
): Disposable {
  return bus.subscribe(engineProgress, ({ name, work }) => {
    if (name !== 'apprise' || work !== null) return;
    onChange();
    engine
      .isInstalled()
      .then((ready) => (ready ? retryEngineDeliveries(jobs, notifications) : undefined))
      .catch((error: unknown) => log.warn('retry of waiting deliveries failed', { error }));
  });
}

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
