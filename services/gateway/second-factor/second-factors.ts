import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { base32, matchingStep } from '../../kit/totp.ts';
import type { SecondFactorRow, Tables } from '../store/tables.ts';

type SecondFactorParts = Pick<Context, 'accounts' | 'clock' | 'db' | 'random' | 'vault'>;

const sealing = 'gateway second factor';
const recoveryCodes = 10;

/** Codes of an authenticator app, asked for after the password; with codes on paper for who has lost it. */
export class SecondFactors {
  readonly #parts: SecondFactorParts;
  readonly #db: Kysely<Tables>;

  constructor(parts: SecondFactorParts) {
    this.#parts = parts;
    this.#db = parts.db as Kysely<Tables>;
  }

  async isOn(account: string): Promise<boolean> {
    return (await this.#row(account))?.confirmed === 1;
  }

  /** How many codes on paper are left; undefined where it is off. */
  async recoveryLeft(account: string): Promise<number | undefined> {
    const row = await this.#row(account);
    return row?.confirmed === 1 ? recoveryOf(row).length : undefined;
  }

  /** A new secret, which counts once a code of it was given. @throws Problem `gateway.second_factor_on` (409) */
  async begin(account: string): Promise<{ readonly secret: string; readonly uri: string }> {
    const before = await this.#row(account);
    if (before?.confirmed === 1) {
      throw new Problem(
        'gateway.second_factor_on',
        409,
        'The second factor is on. Switch it off before you set up another.',
      );
    }
    const secret = this.#parts.random.bytes(20);
    const row: SecondFactorRow = {
      ...{ account, confirmed: 0, recovery: '[]', last_step: 0 },
      secret: this.#parts.vault.seal(Buffer.from(secret).toString('base64'), sealing),
    };
    await this.#db
      .insertInto('second_factors')
      .values(row)
      .onConflict((conflict) => conflict.column('account').doUpdateSet(row))
      .execute();
    return { secret: base32(secret), uri: scannable(secret, account, 'Homeport') };
  }

  /** Switches it on; the codes are shown this once. @throws Problem `gateway.wrong_code` (422), `gateway.no_second_factor` (409) */
  async confirm(account: string, code: string, remoteAddress: string): Promise<readonly string[]> {
    const row = await this.#row(account);
    if (row?.confirmed !== 0) throw new Problem('gateway.no_second_factor', 409, 'Begin to set it up first.');
    if (!(await this.check(account, code, remoteAddress))) throw wrongCode();
    const codes = Array.from({ length: recoveryCodes }, () => this.#parts.random.text(10).toLowerCase());
    const recovery = JSON.stringify(codes.map((each) => this.#fingerprint(account, each)));
    await this.#db
      .updateTable('second_factors')
      .set({ confirmed: 1, recovery })
      .where('account', '=', account)
      .execute();
    return codes;
  }

  /** @throws Problem `gateway.wrong_code` (422) */
  async switchOff(account: string, code: string, remoteAddress: string): Promise<void> {
    if (!(await this.check(account, code, remoteAddress))) throw wrongCode();
    await this.forget(account);
  }

  async forget(account: string): Promise<void> {
    await this.#db.deleteFrom('second_factors').where('account', '=', account).execute();
  }

  /**
   * Whether a code is right now; each is so once. Guessing is slowed down as that of passwords.
   * @throws Problem `accounts.too_many_attempts` (429)
   */
  async check(account: string, code: string, remoteAddress: string): Promise<boolean> {
    const row = await this.#row(account);
    const found = row === undefined ? undefined : this.#matching(row, code);
    const given = { service: 'gateway', name: account, secret: code, remoteAddress };
    if (!(await this.#parts.accounts.checkSecret(given, () => found !== undefined)) || !row || !found) return false;
    // Of two at one time one comes first, and the other finds the row changed.
    const [used] = await this.#db
      .updateTable('second_factors')
      .set(found)
      .where('account', '=', account)
      .where('last_step', '=', row.last_step)
      .where('recovery', '=', row.recovery)
      .returning('account')
      .execute();
    return used !== undefined;
  }

  /** What the row becomes when the code is used; undefined for a wrong one. */
  #matching(row: SecondFactorRow, code: string): Pick<SecondFactorRow, 'last_step' | 'recovery'> | undefined {
    const secret = Buffer.from(this.#parts.vault.open(row.secret, sealing), 'base64');
    const step = matchingStep(secret, code, this.#parts.clock.now());
    const { recovery } = row;
    if (step !== undefined) return step > Number(row.last_step) ? { last_step: step, recovery } : undefined;
    const left = recoveryOf(row);
    const used = this.#fingerprint(row.account, code.replaceAll(/[\s-]/g, '').toLowerCase());
    if (!left.includes(used)) return undefined;
    return { last_step: Number(row.last_step), recovery: JSON.stringify(left.filter((each) => each !== used)) };
  }

  #row(account: string): Promise<SecondFactorRow | undefined> {
    return this.#db.selectFrom('second_factors').selectAll().where('account', '=', account).executeTakeFirst();
  }

  #fingerprint(account: string, code: string): string {
    return this.#parts.vault.fingerprint(`${account} ${code}`, 'gateway recovery code');
  }
}

function recoveryOf({ recovery }: SecondFactorRow): readonly string[] {
  return JSON.parse(recovery) as string[];
}

function wrongCode(): Problem {
  const detail = 'The code is not right. It changes every 30 seconds; look at the clock of your device.';
  return new Problem('gateway.wrong_code', 422, detail, { fields: { code: detail } });
}

/** What an authenticator app scans. */
function scannable(secret: Uint8Array, account: string, issuer: string): string {
  const query = new URLSearchParams({ secret: base32(secret), issuer }).toString();
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${query}`;
}
