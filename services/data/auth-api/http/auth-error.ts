import { randomUUID } from 'node:crypto';
import { Problem } from '../../../contracts/problem.ts';

/** Error of Supabase Auth: a status, a code that clients branch on, and a message. */
export class AuthError extends Problem {
  /** Code for clients: `invalid_credentials`. */
  readonly errorCode: string;
  /** Reasons for a weak password; only with `weak_password`. */
  readonly reasons: readonly string[] | undefined;

  constructor(status: number, errorCode: string, detail: string, reasons?: readonly string[]) {
    super(`data.${errorCode}`, status, detail);
    this.errorCode = errorCode;
    this.reasons = reasons;
  }

  /** Returns a copy with another status. */
  withStatus(status: number): AuthError {
    return new AuthError(status, this.errorCode, this.detail, this.reasons);
  }
}

/** Response in one of the two error formats. */
export interface FormattedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const newestVersion = '2024-01-01';

/** Formats an error. `X-Supabase-Api-Version` selects the format; values that are not dates mean the first one. */
export function formatAuthError(error: AuthError, version: string | undefined): FormattedError {
  const { status, errorCode, detail, reasons } = error;
  const weak = reasons === undefined ? {} : { weak_password: { reasons } };
  if (version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= newestVersion) {
    return {
      status,
      // Supabase Auth omits this header for weak passwords, only in this format.
      headers: {
        'x-supabase-api-version': newestVersion,
        ...(reasons === undefined ? { 'x-sb-error-code': errorCode } : {}),
      },
      body: { code: errorCode, message: detail, ...weak },
    };
  }
  const id = status < 500 ? {} : { error_id: randomUUID() };
  return {
    status,
    headers: { 'x-sb-error-code': errorCode },
    body: { code: status, error_code: errorCode, msg: detail, ...id, ...weak },
  };
}

/** Creates the error for an invalid field. */
export function createValidationError(detail: string): AuthError {
  return new AuthError(400, 'validation_failed', detail);
}

export const createUserNotFoundError = (): AuthError => new AuthError(404, 'user_not_found', 'User not found');
export const createEmailTakenError = (): AuthError =>
  new AuthError(422, 'email_exists', 'A user with this email address has already been registered');
export const createMailIntervalError = (wait: number): AuthError =>
  new AuthError(
    429,
    'over_email_send_rate_limit',
    `For security purposes, you can only request this after ${wait} seconds.`,
  );
export const createRateLimitError = (): AuthError =>
  new AuthError(429, 'over_request_rate_limit', 'Request rate limit reached');
