import * as m from '#messages/account-problems';
import type { SecondFactors } from '../../../services/contracts/control/second-factor.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';
import type { Passkeys } from './passkeys.ts';
import type { SecondFactorStore } from './second-factors.ts';

const ticketMs = 5 * 60_000;

interface Pending {
  readonly account: string;
  /** Hash of the verified password, which must still be the account's. */
  readonly passwordHash: string | undefined;
  readonly until: number;
  /** Set once passkey options were requested. */
  challenge?: string;
}

export interface SecondStepDependencies {
  readonly factors: SecondFactorStore;
  readonly passkeys: Passkeys;
  readonly checkSecret: Accounts['checkSecret'];
  readonly clock: Clock;
  readonly random: Random;
  readonly open: (
    account: string,
    client: Parameters<SecondFactors['complete']>[2],
    passwordHash: string | undefined,
  ) => ReturnType<SecondFactors['complete']>;
}

/** Sign-ins with a verified password and a pending second factor. */
export class SecondStep {
  readonly #parts: SecondStepDependencies;
  readonly #pending = new LruMap<string, Pending>(2000);

  constructor(parts: SecondStepDependencies) {
    this.#parts = parts;
  }

  /** Returns the ticket for the second step. */
  begin(account: string, passwordHash: string | undefined): string {
    const ticket = this.#parts.random.text(32);
    this.#pending.set(ticket, { account, passwordHash, until: this.#parts.clock.now() + ticketMs });
    return ticket;
  }

  readonly passkeyOptions: SecondFactors['passkeyOptions'] = async (ticket, origin) => {
    const pending = this.#find(ticket);
    const options = await this.#parts.passkeys.authenticationOptions(pending.account, origin);
    if (options === undefined) return undefined;
    pending.challenge = options.challenge;
    return { ...options };
  };

  readonly complete: SecondFactors['complete'] = async (ticket, proof, client) => {
    const { account, passwordHash } = this.#find(ticket);
    const isRight =
      'code' in proof
        ? await this.#parts.factors.check(account, proof.code, client.remoteAddress)
        : await this.#checkPasskey(ticket, proof, client.remoteAddress);
    if (!isRight) {
      const detail = 'code' in proof ? m.wrongOrUsedCode() : m.passkeyRefused();
      throw new Problem('accounts.wrong_code', 401, detail);
    }
    // Only the first of two answers with one ticket gets the session.
    this.#find(ticket);
    this.#pending.delete(ticket);
    return this.#parts.open(account, client, passwordHash);
  };

  async #checkPasskey(
    ticket: string,
    { passkey, origin }: Extract<Parameters<SecondFactors['complete']>[1], { passkey: unknown }>,
    remoteAddress: string,
  ): Promise<boolean> {
    const pending = this.#find(ticket);
    const { account, challenge } = pending;
    delete pending.challenge;
    const isRight = challenge !== undefined && (await this.#parts.passkeys.check(account, challenge, passkey, origin));
    const secret = `${ticket} ${passkey.id}`;
    return this.#parts.checkSecret({ service: 'second-factor', name: account, secret, remoteAddress }, () => isRight);
  }

  #find(ticket: string): Pending {
    const pending = this.#pending.get(ticket);
    if (pending !== undefined && pending.until > this.#parts.clock.now()) return pending;
    throw new Problem('accounts.second_step_expired', 401, m.signInExpired());
  }
}
