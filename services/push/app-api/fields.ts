import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseDelay } from '../domain/delay.ts';
import { invalidField } from '../domain/invalid-field.ts';

/**
 * Parses the delay of a message into unix seconds; undefined to publish immediately. `now` is in ms, `maxDelaySeconds`
 * in seconds.
 *
 * @throws Problem with the name of the field
 */
export function parseDueTime(delay: string, now: number, maxDelaySeconds: number, field = 'delay'): number | undefined {
  if (delay === '') return undefined;
  try {
    return parseDelay(delay, now, maxDelaySeconds);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const hours = String(Math.floor(maxDelaySeconds / 3600));
    throw invalidField(
      field,
      `Write 30m, 2 hours, tomorrow 10am or a unix time: 10 seconds to ${hours} hours from now.`,
    );
  }
}

/**
 * Returns the identity of routes that require an account.
 *
 * @throws Problem `accounts.sign_in` (401)
 */
export function requireIdentity(identity: Identity | undefined): Identity {
  if (identity === undefined) throw new Problem('accounts.sign_in', 401, 'Sign in first.');
  return identity;
}
