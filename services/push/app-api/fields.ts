import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseDelay } from '../domain/delay.ts';
import { invalidField } from '../domain/invalid-field.ts';

/**
 * When a message is to go out, in unix seconds; undefined: now. `now` in ms, `longest` in seconds.
 *
 * @throws Problem with the field's name.
 */
export function dueOf(delay: string, now: number, longest: number, field = 'delay'): number | undefined {
  if (delay === '') return undefined;
  try {
    return parseDelay(delay, now, longest);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const hours = String(Math.floor(longest / 3600));
    throw invalidField(
      field,
      `Write 30m, 2 hours, tomorrow 10am or a unix time: 10 seconds to ${hours} hours from now.`,
    );
  }
}

/** Routes for signed-in people have one. @throws Problem `accounts.sign_in` (401). */
export function requireIdentity(identity: Identity | undefined): Identity {
  if (identity === undefined) throw new Problem('accounts.sign_in', 401, 'Sign in first.');
  return identity;
}
