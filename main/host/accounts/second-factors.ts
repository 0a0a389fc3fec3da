import * as m from '#messages/account-problems';
import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import type { SecondFactors, StoredSecondFactor } from '../../../services/contracts/control/second-factor.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Random, Vault } from '../../../services/contracts/service.ts';
import { toBase32, findMatchingStep } from '../../../services/kit/totp.ts';
import type { SecurityLog } from '../log/security-log.ts';
import type { Changes } from './changes.ts';
import type { Directory } from './directory.ts';
import type { Passkeys } from './passkeys.ts';
import { deleteSecondFactor, endCredentials, type Db } from './store.ts';
import type { SecondFactorRow } from './tables.ts';

/** Vault purposes of the gateway, from which the factors were imported. */
const sealing = 'gateway second factor';
const recoverySealing = 'gateway recovery code';
const recoveryCodeCount = 10;
/** 119 bits at least, more than the 112 bits that a fingerprint without a password hash needs (OWASP ASVS 6.5.2). */
const recoveryCodeLength = 24;

/** Accounts that own the factors. */
export interface FactorAccounts {
  readonly directory: Directory;
  readonly changes: Changes;
  readonly checkSecret: Accounts['checkSecret'];
}

export interface SecondFactorDependencies {
  readonly kysely: Db;
  readonly accounts: FactorAccounts;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly random: Random;
  readonly security: SecurityLog;
  readonly passkeys: Passkeys;
}

type Store = Pick<
  SecondFactors,
  'isOn' | 'status' | 'begin' | 'confirm' | 'renewRecoveryCodes' | 'disable' | 'reset' | 'adopt'
>;

/** Codes of an authenticator app (RFC 6238), with recovery codes for a lost device. */
export class SecondFactorStore implements Store {
  readonly #parts: SecondFactorDependencies;

  constructor(parts: SecondFactorDependencies) {
    this.#parts = parts;
  }

  readonly isOn = (account: string): boolean =>
    this.#parts.accounts.directory.member(account)?.hasSecondFactor === true;

  readonly status: Store['status'] = async (account) => {
    const row = await this.#row(account);
    const on = row?.confirmed === 1;
    const passkeys = on ? [...(await this.#parts.passkeys.list(account))] : [];
    return { on, recoveryLeft: on ? parseRecoveryCodes(row).length : 0, passkeys };
  };

  readonly begin: Store['begin'] = async (account) => {
    const { random, vault } = this.#parts;
    const { changes } = this.#parts.accounts;
    const secret = random.bytes(20);
    const row: SecondFactorRow = {
      account,
      confirmed: 0,
      recovery: '[]',
      last_step: 0,
      secret: vault.seal(Buffer.from(secret).toString('base64'), sealing),
    };
    await changes.create([account], async (db) => {
      const before = await findRow(db, account);
      if (before?.confirmed === 1) {
        const detail = m.secondFactorEnabled();
        throw new Problem('accounts.second_factor_on', 409, detail);
      }
      await db
        .insertInto('second_factors')
        .values(row)
        .onConflict((conflict) => conflict.column('account').doUpdateSet(row))
        .execute();
    });
    return { secret: toBase32(secret), uri: formatOtpAuthUrl(secret, account, 'Homeport') };
  };

  readonly confirm: Store['confirm'] = async (account, code, remoteAddress) => {
    const { security } = this.#parts;
    const { changes } = this.#parts.accounts;
    if ((await this.#row(account))?.confirmed !== 0) {
      throw new Problem('accounts.no_second_factor', 409, m.enrollmentNotStarted());
    }
    if (!(await this.check(account, code, remoteAddress))) throw buildWrongCodeProblem();
    const { codes, recovery } = this.#createRecoveryCodes(account);
    await changes.create([account], (db) =>
      db.updateTable('second_factors').set({ confirmed: 1, recovery }).where('account', '=', account).execute(),
    );
    security.record({ event: 'second_factor_enabled', account });
    return codes;
  };

  readonly renewRecoveryCodes: Store['renewRecoveryCodes'] = async (account, code, remoteAddress) => {
    // An unconfirmed factor must not use up a code, which confirms it afterwards.
    if ((await this.#row(account))?.confirmed !== 1) throw buildNoFactorProblem();
    if (!(await this.check(account, code, remoteAddress))) throw buildWrongCodeProblem();
    const { codes, recovery } = this.#createRecoveryCodes(account);
    const renewed = await this.#parts.accounts.changes.create([account], (db) =>
      db
        .updateTable('second_factors')
        .set({ recovery })
        .where('account', '=', account)
        .where('confirmed', '=', 1)
        .returning('account')
        .execute(),
    );
    if (renewed.length === 0) throw buildNoFactorProblem();
    this.#parts.security.record({ event: 'recovery_codes_replaced', account });
    return codes;
  };

  readonly disable: Store['disable'] = async (account, code, remoteAddress) => {
    if (!(await this.check(account, code, remoteAddress))) throw buildWrongCodeProblem();
    await this.#parts.accounts.changes.create([account], (db) => deleteSecondFactor(db, account));
    this.#parts.security.record({ event: 'second_factor_disabled', account });
  };

  readonly reset: Store['reset'] = async (account) => {
    const { security } = this.#parts;
    const { changes } = this.#parts.accounts;
    const wasOn = await changes.create([account], async (db) => {
      await endCredentials(db, account, 'sessions');
      return deleteSecondFactor(db, account);
    });
    if (wasOn) security.record({ event: 'second_factor_disabled', account, detail: 'reset by an administrator' });
  };

  readonly adopt = async (rows: readonly StoredSecondFactor[]): Promise<void> => {
    const { changes, directory } = this.#parts.accounts;
    const existing = rows.filter(({ account }) => directory.member(account) !== undefined);
    if (existing.length === 0) return;
    await changes.create([], async (db, alsoChanged) => {
      for (const row of existing) {
        alsoChanged(row.account);
        const own = { ...row, last_step: Number(row.last_step) };
        await db
          .insertInto('second_factors')
          .values(own)
          .onConflict((conflict) => conflict.column('account').doNothing())
          .execute();
      }
    });
  };

  /**
   * Returns whether a code is currently valid; each is accepted once. Guesses are throttled like passwords.
   * @throws Problem `accounts.too_many_attempts` (429)
   */
  async check(account: string, code: string, remoteAddress: string): Promise<boolean> {
    const row = await this.#row(account);
    const changes = row === undefined ? undefined : this.#matching(row, code);
    const attempt = { service: 'second-factor', name: account, secret: code, remoteAddress };
    if (!(await this.#parts.accounts.checkSecret(attempt, () => changes !== undefined)) || !row || !changes)
      return false;
    // The second of two requests with the same code finds the row changed.
    const used = await this.#parts.accounts.changes.create([], (db) =>
      db
        .updateTable('second_factors')
        .set(changes)
        .where('account', '=', account)
        .where('last_step', '=', row.last_step)
        .where('recovery', '=', row.recovery)
        .returning('account')
        .execute(),
    );
    if (used.length === 0) return false;
    if (changes.recovery !== row.recovery) {
      this.#parts.security.record({ event: 'recovery_code_used', account, address: remoteAddress });
    }
    return true;
  }

  /** Returns the row's changes when the code is used; undefined for a wrong one. */
  #matching(row: SecondFactorRow, code: string): Pick<SecondFactorRow, 'last_step' | 'recovery'> | undefined {
    const secret = Buffer.from(this.#parts.vault.open(row.secret, sealing), 'base64');
    const step = findMatchingStep(secret, code, this.#parts.clock.now());
    const { recovery } = row;
    if (step !== undefined) return step > Number(row.last_step) ? { last_step: step, recovery } : undefined;
    const remainingCodes = parseRecoveryCodes(row);
    const used = this.#fingerprint(row.account, code.replaceAll(/[\s-]/g, '').toLowerCase());
    if (!remainingCodes.includes(used)) return undefined;
    return {
      last_step: Number(row.last_step),
      recovery: JSON.stringify(remainingCodes.filter((each) => each !== used)),
    };
  }

  /** Creates recovery codes as the person reads them, and their stored form. */
  #createRecoveryCodes(account: string): { readonly codes: readonly string[]; readonly recovery: string } {
    const texts = Array.from({ length: recoveryCodeCount }, () =>
      this.#parts.random.text(recoveryCodeLength).toLowerCase(),
    );
    return {
      codes: texts.map((each) => each.replaceAll(/.{6}(?=.)/g, '$&-')),
      recovery: JSON.stringify(texts.map((each) => this.#fingerprint(account, each))),
    };
  }

  #row(account: string): Promise<SecondFactorRow | undefined> {
    return findRow(this.#parts.kysely, account);
  }

  #fingerprint(account: string, code: string): string {
    return this.#parts.vault.fingerprint(`${account} ${code}`, recoverySealing);
  }
}

function findRow(db: Db, account: string): Promise<SecondFactorRow | undefined> {
  return db.selectFrom('second_factors').selectAll().where('account', '=', account).executeTakeFirst();
}

function parseRecoveryCodes({ recovery }: SecondFactorRow): readonly string[] {
  return JSON.parse(recovery) as string[];
}

function buildNoFactorProblem(): Problem {
  return new Problem('accounts.no_second_factor', 409, m.authenticatorNeeded());
}

function buildWrongCodeProblem(): Problem {
  const detail = m.wrongAppCode();
  return new Problem('accounts.wrong_code', 422, detail, { fields: { code: detail } });
}

/** Formats the otpauth URL that authenticator apps scan. */
function formatOtpAuthUrl(secret: Uint8Array, account: string, issuer: string): string {
  const query = new URLSearchParams({ secret: toBase32(secret), issuer }).toString();
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${query}`;
}
