import * as m from '#messages/control-problems';
import type { Accounts } from '../contracts/control/accounts.ts';
import { Problem } from '../contracts/problem.ts';

interface Claim {
  readonly name: string;
  readonly password: string;
  readonly remoteAddress: string;
  /** The field of the form that the refusal is about. */
  readonly field: string;
}

/** Refusals of a right password that is not enough to sign in. */
const rightPasswordCodes: readonly string[] = ['accounts.token_needed', 'accounts.second_factor_required'];

/**
 * Checks the password of a signed-in account again, throttled like a sign-in, before its credentials are changed.
 * @throws Problem `accounts.wrong_password` (403), `accounts.too_many_attempts` (429)
 */
export async function verifyPassword(accounts: Accounts, claim: Claim): Promise<void> {
  const { name, password, remoteAddress, field } = claim;
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  try {
    const proven = await accounts.authenticate({ authorization, remoteAddress });
    // Tokens are accepted as passwords elsewhere, but not here.
    if (proven?.via === 'password' && proven.account === name) return;
  } catch (error) {
    // The password is right, and the account has a second factor or must enrol one.
    if (error instanceof Problem && rightPasswordCodes.includes(error.code)) return;
    if (!(error instanceof Problem) || error.code !== 'accounts.bad_credentials') throw error;
  }
  const message = m.wrongPassword();
  throw new Problem('accounts.wrong_password', 403, message, { fields: { [field]: message } });
}
