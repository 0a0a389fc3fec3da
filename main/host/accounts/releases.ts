import * as m from '#messages/account-problems';
import type {
  AccountData,
  AccountDisposition,
  RemovalRequest,
} from '../../../services/contracts/control/account-data.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, Log, Random } from '../../../services/contracts/service.ts';
import { reserveKeptName } from './names.ts';
import { currentRevision, hasAccount, type Db } from './store.ts';
import type { ReleaseRow } from './tables.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';

export interface ReleaseDependencies {
  readonly kysely: Db;
  readonly commit: Context['commit'];
  /** Ids of all services, including disabled ones. */
  readonly services: readonly string[];
  readonly random: Random;
  readonly log: Log;
}

/** Lets every service delete, transfer or set aside the data of removed accounts, immediately or at its next start. */
export class AccountReleases {
  readonly #parts: ReleaseDependencies;
  /** Running services. */
  readonly #running = new Map<string, AccountData>();
  readonly #turns = new SerialQueue();

  constructor(parts: ReleaseDependencies) {
    this.#parts = parts;
  }

  /** Counts the data of an account in the running services. */
  async summary(account: string): Promise<readonly { service: string; kind: string; count: number }[]> {
    const all = await Promise.all(
      [...this.#running].map(async ([service, data]) =>
        (await data.summary(account)).map(({ kind, count }) => ({ service, kind, count })),
      ),
    );
    return all.flat().filter(({ count }) => count > 0);
  }

  /**
   * Stores the pending work of each service, in the transaction that removes an account.
   * @throws Problem `accounts.bad_recipient` (422)
   */
  async request(db: Db, account: string, request: RemovalRequest): Promise<void> {
    const { services, random } = this.#parts;
    const target = await toTarget(db, account, request);
    const common = {
      id: random.text(16),
      account,
      action: request.action,
      target,
      failed: 0,
      revision: await currentRevision(db),
    };
    const rows = services.map((service): ReleaseRow => ({ ...common, service }));
    if (rows.length > 0) await db.insertInto('releases').values(rows).execute();
  }

  /** Runs the pending work of the running services. Never rejects: failures are retried at their next start. */
  async carryOut(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((service) => this.#inTurn(service)));
  }

  /** Returns whether a service has pending work. */
  async hasPending(service: string): Promise<boolean> {
    return (await this.#pending(service)).length > 0;
  }

  /**
   * Runs the pending work of a service that has started, before it answers requests, and later work immediately.
   * Dispose it when the service ends.
   */
  async attach(service: string, data: AccountData = noData): Promise<Disposable> {
    this.#running.set(service, data);
    await this.#inTurn(service);
    return {
      [Symbol.dispose]: () => {
        if (this.#running.get(service) === data) this.#running.delete(service);
      },
    };
  }

  #inTurn(service: string): Promise<void> {
    return this.#turns.run(() => this.#carryOut(service));
  }

  async #carryOut(service: string): Promise<void> {
    const { log, commit } = this.#parts;
    try {
      for (const row of await this.#pending(service)) {
        const data = this.#running.get(service);
        if (data === undefined) return;
        const isDone = await this.#release(data, row);
        await commit(async (db: Db) => {
          const same = { id: row.id, service };
          if (isDone)
            await db.deleteFrom('releases').where('id', '=', same.id).where('service', '=', service).execute();
          else await markFailed(db, same);
        });
      }
    } catch (error) {
      log.error('account releases lookup failed', { target: service, error });
    }
  }

  async #release(data: AccountData, row: ReleaseRow): Promise<boolean> {
    const { service, account, action } = row;
    try {
      await data.release(account, toDisposition(row));
      return true;
    } catch (error) {
      this.#parts.log.error('account data release failed', {
        target: service,
        account,
        action,
        error,
      });
      return false;
    }
  }

  #pending(service: string): Promise<readonly ReleaseRow[]> {
    return this.#parts.kysely
      .selectFrom('releases')
      .selectAll()
      .where('service', '=', service)
      .orderBy('revision')
      .execute();
  }
}

/** For services that store nothing by account name; their pending work ends at once. */
const noData: AccountData = { summary: async () => [], release: async () => undefined };

async function markFailed(db: Db, { id, service }: Pick<ReleaseRow, 'id' | 'service'>): Promise<void> {
  await db.updateTable('releases').set({ failed: 1 }).where('id', '=', id).where('service', '=', service).execute();
}

async function toTarget(db: Db, account: string, request: RemovalRequest): Promise<string> {
  if (request.action === 'delete') return '';
  if (request.action === 'keep') return reserveKeptName(db, account);
  if (request.to !== account && request.to !== '*' && (await hasAccount(db, request.to))) return request.to;
  const detail = m.receiverNotFound();
  throw new Problem('accounts.bad_recipient', 422, detail, { fields: { to: detail } });
}

function toDisposition({ action, target }: ReleaseRow): AccountDisposition {
  if (action === 'transfer') return { action, to: target };
  return action === 'keep' ? { action, as: target } : { action: 'delete' };
}
