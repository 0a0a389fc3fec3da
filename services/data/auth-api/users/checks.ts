import { addressComplaint } from '../domain/addresses.ts';
import { longestPassword, weakness } from '../domain/password-rules.ts';
import type { Body } from '../http/body.ts';
import { invalid, Refusal } from '../http/auth-error.ts';
import type { Challenge } from '../store/flows.ts';

const minimum = 6;

/**
 * Validates an address and returns it in lower case, as it is stored.
 *
 * @throws AuthError
 */
export function checkedEmail(email: string): string {
  const complaint = addressComplaint(email);
  if (complaint !== undefined) throw invalid(complaint);
  return email.toLowerCase();
}

/**
 * Validates a phone number and returns its digits, as they are stored.
 *
 * @throws AuthError
 */
export function checkedPhone(phone: string): string {
  const digits = phone.replace(/[\s()+-]/g, '');
  if (!/^[1-9]\d{1,14}$/.test(digits)) throw invalid('Invalid phone number format (E.164 required)');
  return digits;
}

/**
 * Validates a new password.
 *
 * @throws AuthError for a password that is too short or too long
 */
export function checkPassword(password: string): void {
  if (Buffer.byteLength(password) > longestPassword) {
    throw invalid(`Password cannot be longer than ${longestPassword} characters`);
  }
  const weak = weakness(password, minimum);
  if (weak !== undefined) throw new Refusal(422, 'weak_password', weak.detail, weak.reasons);
}

/** Returns `weak_password` of a sign-in, for passwords that satisfied earlier rules. */
export function weaknessOf(password: string): { readonly message: string; readonly reasons: readonly string[] } | null {
  const weak = weakness(password, minimum);
  return weak === undefined ? null : { message: weak.detail, reasons: weak.reasons };
}

/**
 * Returns the PKCE challenge of a request; undefined for the implicit flow.
 *
 * @throws AuthError
 */
export function challengeOf(body: Body): Challenge | undefined {
  const challenge = body.text('code_challenge');
  const method = body.text('code_challenge_method').toLowerCase();
  if (challenge === '' && method === '') return undefined;
  if (challenge === '' || method === '') {
    throw invalid('PKCE flow requires code_challenge_method and code_challenge');
  }
  if (challenge.length < 43 || challenge.length > 128) {
    throw invalid('code challenge has to be between 43 and 128 characters');
  }
  if (!/^[\w.~-]+$/.test(challenge))
    throw invalid('code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes');
  if (method !== 's256' && method !== 'plain') throw invalid(`unsupported code_challenge method "${method}"`);
  return { challenge, method };
}
