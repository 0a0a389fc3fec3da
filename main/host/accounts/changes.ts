import * as m from '#messages/account-problems';
import { accountsChanged, accountsRemoved } from '../../../services/contracts/control/accounts.ts';
import type { Bus } from '../../../services/contracts/bus.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, Log } from '../../../services/contracts/service.ts';
import type { Directory } from './directory.ts';
import { hasAdministrator, nextRevision, type Db } from './store.ts';

/** Applies all changes of accounts: serialized, validated, and loaded into memory before they are published. */
export class Changes {
  readonly #commit: Context['commit'];
  readonly #directory: Directory;
  readonly #bus: Bus;
  readonly #log: Log;

  constructor(commit: Context['commit'], directory: Directory, bus: Bus, log: Log) {
    this.#commit = commit;
    this.#directory = directory;
    this.#bus = bus;
    this.#log = log;
  }

  /**
   * Runs the work in one transaction that no other change overlaps, then reloads the named accounts and publishes the
   * change. `work` may add names, and may run twice as {@link Context.commit} describes. `kind` is part of the event.
   * @throws Problem `accounts.last_admin` (409) when no administrator would remain
   */
  async create<T>(
    names: readonly string[],
    work: (db: Db, alsoChanged: (name: string) => void) => Promise<T>,
    kind: { readonly onlyLanguage?: true } = {},
  ): Promise<T> {
    const before = new Set(this.#directory.members().map(({ account }) => account.name));
    let touched = new Set<string>();
    let revision = 0;
    const result = await this.#commit(async (db: Db) => {
      touched = new Set(names);
      revision = await nextRevision(db);
      const administrated = await hasAdministrator(db);
      const done = await work(db, (name) => touched.add(name));
      if (administrated && !(await hasAdministrator(db))) throw buildLastAdministratorProblem();
      return done;
    });
    const isRead = await this.#applyChange(touched, revision);
    for (const account of touched) this.#bus.publish(accountsChanged, { account, ...kind });
    const removed = [...touched].filter((name) => before.has(name) && this.#directory.member(name) === undefined);
    if (isRead) for (const account of removed) this.#bus.publish(accountsRemoved, { account });
    return result;
  }

  /** Returns false when the result could not be read. */
  async #applyChange(touched: ReadonlySet<string>, revision: number): Promise<boolean> {
    try {
      const [name] = touched;
      if (touched.size === 1 && name !== undefined) await this.#directory.refresh(name, revision);
      else await this.#directory.synchronize();
      return true;
    } catch (error) {
      // The change is stored but cannot be read: deny access rather than grant revoked access.
      for (const name of touched) this.#directory.forget(name);
      this.#log.error('accounts reload failed', { accounts: [...touched], error });
      return false;
    }
  }
}

function buildLastAdministratorProblem(): Problem {
  return new Problem('accounts.last_admin', 409, m.lastAdministrator());
}
