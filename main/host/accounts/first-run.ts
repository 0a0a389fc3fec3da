import * as m from '#messages/account-problems';
import { timingSafeEqual } from 'node:crypto';
import type { Account } from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import {
  getExistingAccount,
  prepareAccount,
  type AccountListDependencies,
  type PreparedAccount,
} from './account-list.ts';
import type { Changes } from './changes.ts';
import { findAccountName } from './names.ts';
import { refuseWeakPassword } from './password-rules.ts';
import { hasAdministrator, type Db } from './store.ts';
import { fingerprint } from './secrets.ts';
import { buildTooManyAttemptsProblem } from './sign-in-throttle.ts';

/** Number of free wrong codes, and one more per interval. */
const burst = 10;
const interval = 10_000;

/** Creation of the first administrator. */
export interface FirstRun {
  /** True until an enabled user can sign in and administrate. */
  needed(): boolean;
  /**
   * Returns the code of the set-up link. Created by the first call, which invalidates the code of an earlier start.
   * @throws Problem `accounts.setup_done` (409) when it is no longer needed.
   */
  code(): Promise<string>;
  /**
   * Creates the first administrator; one of several concurrent calls succeeds.
   * @throws Problem `accounts.setup_done` (409), `accounts.bad_setup_code` (403), `accounts.too_many_attempts` (429),
   * `accounts.exists` (409), `accounts.invalid` (400), `accounts.weak_password` (422).
   */
  complete(code: string, name: string, password: string): Promise<Account>;
  /**
   * For servers configured by their environment: creates the administrator at the first start. Later, or when the
   * name is taken, it changes nothing.
   * @returns whether the account was created
   */
  ensureAdministrator(name: string, password: string): Promise<boolean>;
}

export interface FirstRunDependencies extends AccountListDependencies {
  readonly kysely: Db;
  readonly clock: Clock;
  readonly random: Random;
}

export function firstRun(parts: FirstRunDependencies): FirstRun {
  const { directory, changes, clock, random } = parts;
  let code: Promise<string> | undefined;
  const wrongCodes = new WrongCodes(clock);

  const needed = (): boolean =>
    !directory
      .members()
      .some(
        ({ account }) =>
          account.kind === 'person' && account.role === 'admin' && account.enabled && account.hasPassword,
      );

  return {
    needed,

    async code() {
      if (!needed()) throw buildSetUpDoneProblem();
      code ??= replaceCode(changes, random).catch((error: unknown) => {
        code = undefined;
        throw error;
      });
      return code;
    },

    async complete(input, name, password) {
      if (!needed()) throw buildSetUpDoneProblem();
      if (!(await isRight(parts.kysely, input))) {
        // Another host may have created one whose event has not arrived yet.
        if (await hasAdministrator(parts.kysely)) throw buildSetUpDoneProblem();
        return wrongCodes.refuse();
      }
      await refuseWeakPassword(name, password);
      const prepared = await prepareAccount({ name, password, role: 'admin' }, parts);
      await changes.create([name], async (db) => {
        if (!(await isRight(db, input))) throw buildSetUpDoneProblem();
        await insertFirst(db, prepared);
      });
      code = undefined;
      return getExistingAccount(directory, name);
    },

    async ensureAdministrator(name, password) {
      if (!needed() || directory.member(name) !== undefined) return false;
      const prepared = await prepareAccount({ name, password, role: 'admin' }, parts);
      return changes.create([name], async (db) => {
        if ((await hasAdministrator(db)) || (await findAccountName(db, name)) !== undefined) return false;
        await insertFirst(db, prepared);
        return true;
      });
    },
  };
}

/** Stores the hash of a new code and returns the code. */
async function replaceCode(changes: Changes, random: Random): Promise<string> {
  const text = random.text(32);
  await changes.create([], async (db) => {
    if (await hasAdministrator(db)) throw buildSetUpDoneProblem();
    await db.deleteFrom('setup').execute();
    await db
      .insertInto('setup')
      .values({ id: 1, code_hash: fingerprint(text) })
      .execute();
  });
  return text;
}

async function insertFirst(db: Db, prepared: PreparedAccount): Promise<void> {
  if (await hasAdministrator(db)) throw buildSetUpDoneProblem();
  await prepared.insert(db);
  await db.deleteFrom('setup').execute();
}

/** Limits the attempts with wrong codes. */
class WrongCodes {
  readonly #clock: Clock;
  #count = 0;
  #changedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#changedAt = clock.now();
  }

  /** @throws Problem `accounts.bad_setup_code` (403), `accounts.too_many_attempts` (429). */
  refuse(): never {
    const now = this.#clock.now();
    this.#count = Math.max(0, this.#count - Math.max(0, now - this.#changedAt) / interval);
    this.#changedAt = now;
    if (this.#count + 1 > burst) throw buildTooManyAttemptsProblem((this.#count + 1 - burst) * interval);
    this.#count += 1;
    throw new Problem('accounts.bad_setup_code', 403, m.setupLinkInvalid());
  }
}

async function isRight(db: Db, code: string): Promise<boolean> {
  const stored = await db.selectFrom('setup').select('code_hash').executeTakeFirst();
  return stored !== undefined && timingSafeEqual(Buffer.from(fingerprint(code)), Buffer.from(stored.code_hash));
}

function buildSetUpDoneProblem(): Problem {
  return new Problem('accounts.setup_done', 409, m.setupFinished());
}
