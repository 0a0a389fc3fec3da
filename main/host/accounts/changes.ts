import * as m from '#messages/account-problems';
import { z } from 'zod';
import { accountsChanged, accountsRemoved } from '../../../services/contracts/control/accounts.ts';
import { defineTopic, type Bus } from '../../../services/contracts/bus.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, Log } from '../../../services/contracts/service.ts';
import type { Directory } from './directory.ts';
import { hasAdministrator, nextRevision, type Db } from './store.ts';

/** Published after a change was stored, for the other hosts, which then load the accounts. */
const accountsStored = defineTopic(
  'accounts.stored',
  z.object({ accounts: z.array(z.string()), revision: z.int(), onlyLanguage: z.literal(true).optional() }),
  { shared: true },
);

/** Property of the events of a change. */
interface ChangeKind {
  readonly onlyLanguage?: true | undefined;
}

interface StoredChange {
  readonly touched: ReadonlySet<string>;
  readonly revision: number;
  /** Names of the accounts before the change. */
  readonly existing: ReadonlySet<string>;
  readonly kind: ChangeKind;
}

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
    kind: ChangeKind = {},
  ): Promise<T> {
    const existing = this.#getNames();
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
    this.#bus.publish(accountsStored, { accounts: [...touched], revision, ...kind });
    await this.#load({ touched, revision, existing, kind });
    return result;
  }

  /** Loads the changes of other hosts. Dispose it to end. */
  followOtherHosts(): Disposable {
    const load = ({ accounts, revision, onlyLanguage }: z.infer<typeof accountsStored.schema>): void => {
      void this.#load({ touched: new Set(accounts), revision, existing: this.#getNames(), kind: { onlyLanguage } });
    };
    return this.#bus.subscribe(accountsStored, load, 'other hosts');
  }

  /**
   * Loads an account that is stored but not loaded yet: another request or host has just created it, and its own load
   * has not finished.
   */
  async ensureLoaded(name: string): Promise<void> {
    if (this.#directory.member(name) === undefined) await this.synchronize();
  }

  /** Loads and publishes changes of other hosts whose events may have been lost. */
  async synchronize(): Promise<void> {
    const existing = this.#getNames();
    this.#publish(await this.#directory.synchronize(), existing, {});
  }

  /** Never rejects. */
  async #load({ touched, revision, existing, kind }: StoredChange): Promise<void> {
    const isRead = await this.#applyChange(touched, revision);
    this.#publish(touched, isRead ? existing : new Set(), kind);
  }

  /** `existing`: names of the accounts before the change. */
  #publish(touched: Iterable<string>, existing: ReadonlySet<string>, { onlyLanguage }: ChangeKind): void {
    const names = [...touched];
    const kind = onlyLanguage === true ? { onlyLanguage } : {};
    for (const account of names) this.#bus.publish(accountsChanged, { account, ...kind });
    const removed = names.filter((name) => existing.has(name) && this.#directory.member(name) === undefined);
    for (const account of removed) this.#bus.publish(accountsRemoved, { account });
  }

  #getNames(): ReadonlySet<string> {
    return new Set(this.#directory.members().map(({ account }) => account.name));
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
