import type { Accounts, Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { isSameSecret } from '../../kit/same-secret.ts';
import { Refusal } from './refusal.ts';

/** Authenticated sender: a login of the settings or an account. */
export type Sender = { readonly login: string } | { readonly identity: Identity };

export interface Login {
  readonly name: string;
  readonly password: string;
}

/** Verifies names and passwords of mail clients. */
export class SignIn {
  readonly #accounts: Accounts;
  readonly #logins: () => readonly Login[];

  constructor(accounts: Accounts, logins: () => readonly Login[]) {
    this.#accounts = accounts;
    this.#logins = logins;
  }

  /**
   * Verifies credentials.
   *
   * @throws Refusal 535 for wrong credentials, 454 when they cannot be verified
   */
  async check(name: string, password: string, remoteAddress: string): Promise<Sender> {
    try {
      if (await this.#isLogin(name, password, remoteAddress)) return { login: name };
      const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
      const identity = await this.#accounts.authenticate({ authorization, remoteAddress });
      if (identity !== undefined) return { identity };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status !== 401) throw temporaryRefusal();
    }
    throw new Refusal(535, 'Name or password is not right');
  }

  async #isLogin(name: string, secret: string, remoteAddress: string): Promise<boolean> {
    const logins = this.#logins().filter((each) => each.name === name);
    if (logins.length === 0) return false;
    return this.#accounts.checkSecret({ service: 'mail', name, secret, remoteAddress }, () =>
      logins.some(({ password }) => password !== '' && isSameSecret(secret, password)),
    );
  }

  /** Returns true when the sender may send to an address; grants of accounts name addresses. */
  may(sender: Sender, recipient: string): boolean {
    if ('login' in sender) return true;
    return this.#accounts.may(sender.identity, 'mail', 'write', recipient.toLowerCase());
  }
}

function temporaryRefusal(): Refusal {
  return new Refusal(454, 'Too many attempts or a temporary failure, try again later');
}
