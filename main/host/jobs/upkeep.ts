import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { renewLeases, takeBack } from './leases.ts';
import { isGone } from './owner.ts';
import { letAllFirstGo } from './table.ts';

/** How long a claim holds unless it is renewed. */
export const leaseMs = 60_000;
const renewEveryMs = 20_000;
/** For jobs that other replicas enqueued; no wake tells of them. On SQLite there are none, the look is a safety net. */
const pollEveryMs = { sqlite: 60_000, postgres: 5_000 };

/** Keeps the leases of one worker alive and frees those of workers that ended; the first such look is over on return. */
export async function openUpkeep(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly owner: string;
  /** Ids of the jobs that run now. */
  readonly running: () => readonly number[];
  readonly lost: (id: number) => void;
  /** There may be due jobs nobody told of. */
  readonly wake: () => void;
}): Promise<Disposable> {
  const { database, clock, log, owner, running, lost, wake } = options;
  const exclusive = database.dialect === 'sqlite';

  const renew = async (): Promise<void> => {
    const ids = running();
    if (ids.length === 0) return;
    const until = clock.now() + leaseMs;
    const ours = await database.note((transaction) => renewLeases(transaction, owner, until));
    // A machine that slept may have lost its leases to a replica.
    for (const id of ids) if (!ours.has(id)) lost(id);
  };

  const freeOrphans = async (): Promise<void> => {
    const freed = await database.note((transaction) =>
      takeBack(transaction, clock.now(), owner, (other) => isGone(other, exclusive)),
    );
    if (freed === 0) return;
    log.info('took up jobs of a worker that ended', { jobs: freed });
    wake();
  };

  const lookAround = async (): Promise<void> => {
    if (!exclusive) await database.note(letAllFirstGo);
    wake();
  };

  /** Not again while it is under way: a database that hangs must not gather a queue. */
  const calmly = (work: () => Promise<void>) => {
    let busy = false;
    return () => {
      if (busy) return;
      busy = true;
      work()
        .catch((error: unknown) => log.warn('the database refuses, jobs wait', { error }))
        .finally(() => (busy = false));
    };
  };

  await freeOrphans();
  await database.note(letAllFirstGo);
  const timers = new DisposableStack();
  timers.use(clock.every(renewEveryMs, calmly(renew)));
  timers.use(clock.every(renewEveryMs, calmly(freeOrphans)));
  timers.use(clock.every(pollEveryMs[database.dialect], calmly(lookAround)));
  return timers;
}
