import type { FetchReply } from '../../contracts/outgoing.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { CertificateFailure, type FailureCode } from './failure.ts';
import { ErrorDocument } from './protocol.ts';

const errorPrefix = 'urn:ietf:params:acme:error:';
/** Longest delay that a reply may request. */
const maxRetryAfterMs = 7 * 24 * 3_600_000;

/** Failures by the type of the authority's error (RFC 8555, 6.7). */
const failures: Readonly<Record<string, FailureCode>> = {
  accountDoesNotExist: 'acme.account',
  caa: 'acme.caa',
  connection: 'acme.validation_http',
  dns: 'acme.validation_dns',
  externalAccountRequired: 'acme.external_account',
  incorrectResponse: 'acme.validation_dns',
  invalidContact: 'acme.account',
  orderNotReady: 'acme.order_invalid',
  rateLimited: 'acme.rate_limited',
  rejectedIdentifier: 'acme.domain_rejected',
  serverInternal: 'acme.authority_down',
  unauthorized: 'acme.account',
  unsupportedContact: 'acme.account',
  unsupportedIdentifier: 'acme.domain_rejected',
  userActionRequired: 'acme.account',
};

/** Error reply of an authority. */
export class AuthorityError extends CertificateFailure {
  /** Type without the prefix of RFC 8555, such as `badNonce`. */
  readonly type: string;

  constructor(failure: FailureCode, type: string, values: Readonly<Record<string, string>>, retryAfterMs?: number) {
    super(failure, values, retryAfterMs === undefined ? {} : { retryAfterMs });
    this.type = type;
  }
}

/** Builds the failure for an error document. */
export function buildAuthorityError(
  host: string,
  { type, detail }: ErrorDocument,
  { status = 400, retryAfterMs }: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
): AuthorityError {
  const name = type.startsWith(errorPrefix) ? type.slice(errorPrefix.length) : '';
  const byStatus: FailureCode = status === 429 ? 'acme.rate_limited' : getFailureByStatus(status);
  const failure = Object.hasOwn(failures, name) ? (failures[name] ?? byStatus) : byStatus;
  return new AuthorityError(failure, name, { host, reason: detail.slice(0, 500) }, retryAfterMs);
}

function getFailureByStatus(status: number): FailureCode {
  return status >= 500 ? 'acme.authority_down' : 'acme.authority_failed';
}

/** Builds the failure for an error reply. */
export function toAuthorityError(host: string, reply: FetchReply, now: number): AuthorityError {
  const document = ErrorDocument.safeParse(parseReply(reply));
  const retryAfterMs = parseRetryAfter(reply.headers['retry-after'], now);
  const content = document.success ? document.data : { type: '', detail: `HTTP ${String(reply.status)}` };
  return buildAuthorityError(host, content, { status: reply.status, retryAfterMs });
}

/** Parses the body of a reply; undefined for other content than JSON. */
export function parseReply({ body }: FetchReply): unknown {
  return parseJson(Buffer.from(body).toString('utf8'));
}

/** Parses a `Retry-After` header (RFC 9110, 10.2.3) into ms; undefined without a valid one. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  // Date.parse also accepts other text, such as `-5`.
  if (header === undefined || !/^(?:\d{1,9}|[A-Z][a-z]{2,8}, .+)$/.test(header)) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, maxRetryAfterMs) : undefined;
}

/** Explains a request that received no reply. */
export function toConnectionFailure(host: string, error: unknown): unknown {
  if (!(error instanceof Problem) || error instanceof CertificateFailure) return error;
  return new CertificateFailure('acme.authority_down', { host, reason: error.detail }, { cause: error });
}
