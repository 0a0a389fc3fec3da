import type { Jobs } from '../../../services/contracts/jobs.ts';
import type { Metrics } from '../../../services/contracts/metrics.ts';
import { CompletionJournal } from './completion-journal.ts';
import { purgeDone } from './listing.ts';
import { Outbox } from './outbox.ts';
import { SharedWorker } from './shared-worker.ts';
import { SoleWorker } from './sole-worker.ts';
import type { WorkerDependencies } from './worker.ts';

export { jobsMigrations } from './migrations.ts';

const keepDoneMs = 7 * 24 * 3_600_000;
const purgeEveryMs = 3_600_000;
const firstPurgeMs = 60_000;
const purgeBatch = 500;

/**
 * Opens the durable outbox of a service on its own database, after `jobsMigrations`. Jobs of a crashed process are
 * due again immediately. The disposal aborts running jobs, waits at most 4 s and returns them.
 * `metrics` are the service's own: `jobs_waiting`, `jobs_dead`, `jobs_finished_total{kind, outcome}` with the
 * outcomes `done`, `retried` and `dead`.
 */
export async function openJobs(
  options: Omit<WorkerDependencies, 'finished'> & {
    /** Service id for the log. */
    readonly service: string;
    readonly metrics: Metrics;
  },
): Promise<Jobs & AsyncDisposable> {
  const { service, database, clock, hosts, random, log, metrics, isAfterCrash } = options;
  const finished = metrics.counter({
    name: 'jobs_finished_total',
    help: 'Attempts at jobs that ended, by kind and outcome.',
    labels: ['kind', 'outcome'],
  });
  await using opening = new AsyncDisposableStack();
  const parts = { database, clock, random, log, finished, isAfterCrash, ...(hosts === undefined ? {} : { hosts }) };
  const { folder } = database;
  const worker = opening.use(
    await (folder === undefined
      ? SharedWorker.open(parts)
      : SoleWorker.open(parts, opening.use(new CompletionJournal(folder, log)))),
  );
  const purge = async (): Promise<void> => {
    try {
      const before = clock.now() - keepDoneMs;
      while ((await database.note((transaction) => purgeDone(transaction, before, purgeBatch))) === purgeBatch);
    } catch (error) {
      log.warn('completed jobs purge failed', { service, error });
    }
  };
  opening.use(clock.after(firstPurgeMs, () => void purge()));
  opening.use(clock.every(purgeEveryMs, () => void purge()));
  const outbox = new Outbox(database, clock, worker, opening.move());
  const gauge = (name: string, help: string, state: 'waiting' | 'dead') =>
    metrics.gauge({ name, help, collect: () => outbox.count(state) });
  gauge('jobs_waiting', 'Jobs that wait for their next attempt.', 'waiting');
  gauge('jobs_dead', 'Dead letters, kept until retried or dropped.', 'dead');
  return outbox;
}
