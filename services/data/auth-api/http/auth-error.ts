import { randomUUID } from 'node:crypto';
import { Problem } from '../../../contracts/problem.ts';

/** What the peer answers when it refuses: a status, a short code that clients branch on, and a sentence. */
export class Refusal extends Problem {
  /** As clients know it: `invalid_credentials`. */
  readonly slug: string;
  /** Why a password is weak; only with `weak_password`. */
  readonly reasons: readonly string[] | undefined;

  constructor(status: number, slug: string, detail: string, reasons?: readonly string[]) {
    super(`data.${slug}`, status, detail);
    this.slug = slug;
    this.reasons = reasons;
  }

  /** The same with another status. */
  as(status: number): Refusal {
    return new Refusal(status, this.slug, this.detail, this.reasons);
  }
}

/** An answer in one of the two dialects of errors. */
export interface RenderedRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const newest = '2024-01-01';

/** `X-Supabase-Api-Version` chooses the dialect; what is no date means the first one. */
export function renderRefusal(refusal: Refusal, version: string | undefined): RenderedRefusal {
  const { status, slug, detail, reasons } = refusal;
  const weak = reasons === undefined ? {} : { weak_password: { reasons } };
  if (version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= newest) {
    return {
      status,
      // The peer leaves the short header away for weak passwords, and only in this dialect.
      headers: { 'x-supabase-api-version': newest, ...(reasons === undefined ? { 'x-sb-error-code': slug } : {}) },
      body: { code: slug, message: detail, ...weak },
    };
  }
  const id = status < 500 ? {} : { error_id: randomUUID() };
  return {
    status,
    headers: { 'x-sb-error-code': slug },
    body: { code: status, error_code: slug, msg: detail, ...id, ...weak },
  };
}

/** 400 of a field that cannot be. */
export function invalid(detail: string): Refusal {
  return new Refusal(400, 'validation_failed', detail);
}

export const userNotFound = (): Refusal => new Refusal(404, 'user_not_found', 'User not found');
export const emailTaken = (): Refusal =>
  new Refusal(422, 'email_exists', 'A user with this email address has already been registered');
export const emailsOff = (wait: number): Refusal =>
  new Refusal(
    429,
    'over_email_send_rate_limit',
    `For security purposes, you can only request this after ${wait} seconds.`,
  );
export const tooMany = (): Refusal => new Refusal(429, 'over_request_rate_limit', 'Request rate limit reached');
