import { addressComplaint } from '../domain/addresses.ts';
import { longestPassword, weakness } from '../domain/password-rules.ts';
import type { Body } from '../http/body.ts';
import { invalid, Refusal } from '../http/auth-error.ts';
import type { Challenge } from '../store/flows.ts';

const minimum = 6;

/** In lower case, as it is kept. @throws Refusal */
export function checkedEmail(email: string): string {
  const complaint = addressComplaint(email);
  if (complaint !== undefined) throw invalid(complaint);
  return email.toLowerCase();
}

/** Digits alone, as they are kept. @throws Refusal */
export function checkedPhone(phone: string): string {
  const digits = phone.replace(/[\s()+-]/g, '');
  if (!/^[1-9]\d{1,14}$/.test(digits)) throw invalid('Invalid phone number format (E.164 required)');
  return digits;
}

/** @throws Refusal for a password that nobody should have. */
export function checkPassword(password: string): void {
  if (Buffer.byteLength(password) > longestPassword) {
    throw invalid(`Password cannot be longer than ${longestPassword} characters`);
  }
  const weak = weakness(password, minimum);
  if (weak !== undefined) throw new Refusal(422, 'weak_password', weak.detail, weak.reasons);
}

/** What `weak_password` of a sign-in says of a password that was good enough once. */
export function weaknessOf(password: string): { readonly message: string; readonly reasons: readonly string[] } | null {
  const weak = weakness(password, minimum);
  return weak === undefined ? null : { message: weak.detail, reasons: weak.reasons };
}

/** What a program leaves that will exchange a code; undefined when it wants the session in the link. @throws Refusal */
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
