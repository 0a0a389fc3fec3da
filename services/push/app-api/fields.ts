import * as m from '#messages/push-problems';
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
    throw invalidField(field, m.delayInvalid({ hours: Math.floor(maxDelaySeconds / 3600) }));
  }
}

/**
 * Returns the identity of routes that require an account.
 *
 * @throws Problem `accounts.sign_in` (401)
 */
export function requireIdentity(identity: Identity | undefined): Identity {
  if (identity === undefined) throw new Problem('accounts.sign_in', 401, m.signInMissing());
  return identity;
}
