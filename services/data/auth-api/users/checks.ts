import { findAddressError } from '../domain/addresses.ts';
import { maxPasswordBytes, findWeakness } from '../domain/password-rules.ts';
import type { Body } from '../http/body.ts';
import { createValidationError, AuthError } from '../http/auth-error.ts';
import type { Challenge } from '../store/flows.ts';

const minPasswordBytes = 6;

/**
 * Validates an address and returns it in lower case, as it is stored.
 *
 * @throws AuthError
 */
export function parseEmail(email: string): string {
  const error = findAddressError(email);
  if (error !== undefined) throw createValidationError(error);
  return email.toLowerCase();
}

/**
 * Validates a phone number and returns its digits, as they are stored.
 *
 * @throws AuthError
 */
export function parsePhone(phone: string): string {
  const digits = phone.replace(/[\s()+-]/g, '');
  if (!/^[1-9]\d{1,14}$/.test(digits)) throw createValidationError('Invalid phone number format (E.164 required)');
  return digits;
}

/**
 * Validates a new password.
 *
 * @throws AuthError for a password that is too short or too long
 */
export function checkPassword(password: string): void {
  if (Buffer.byteLength(password) > maxPasswordBytes) {
    throw createValidationError(`Password cannot be longer than ${maxPasswordBytes} characters`);
  }
  const problem = findWeakness(password, minPasswordBytes);
  if (problem !== undefined) throw new AuthError(422, 'weak_password', problem.detail, problem.reasons);
}

/** Returns `weak_password` of a sign-in, for passwords that satisfied earlier rules. */
export function getWeakPassword(
  password: string,
): { readonly message: string; readonly reasons: readonly string[] } | null {
  const problem = findWeakness(password, minPasswordBytes);
  return problem === undefined ? null : { message: problem.detail, reasons: problem.reasons };
}

/**
 * Returns the PKCE challenge of a request; undefined for the implicit flow.
 *
 * @throws AuthError
 */
export function parseChallenge(body: Body): Challenge | undefined {
  const challenge = body.text('code_challenge');
  const method = body.text('code_challenge_method').toLowerCase();
  if (challenge === '' && method === '') return undefined;
  if (challenge === '' || method === '') {
    throw createValidationError('PKCE flow requires code_challenge_method and code_challenge');
  }
  if (challenge.length < 43 || challenge.length > 128) {
    throw createValidationError('code challenge has to be between 43 and 128 characters');
  }
  if (!/^[\w.~-]+$/.test(challenge))
    throw createValidationError(
      'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
    );
  if (method !== 's256' && method !== 'plain')
    throw createValidationError(`unsupported code_challenge method "${method}"`);
  return { challenge, method };
}
