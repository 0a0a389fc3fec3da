import { findOwn } from '../../contracts/find-own.ts';
import { formatReply, formatSendFailure } from '../../contracts/notify/send-failure.ts';
import type { NotifyFailureCode } from '../../contracts/notify/statistics.ts';
import { findCertificateProblem } from '../../contracts/certificates.ts';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { DeliveryResult } from './destination.ts';

const dayMs = 24 * 3600 * 1000;
/** An untrusted certificate does not change without a renewal; one retry covers a renewal in progress. */
const maxUntrustedAttempts = 2;

/**
 * Parses a number of seconds or a date (RFC 9110, 10.2.3) to ms, at most a day. Returns undefined if it is invalid.
 */
function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? Math.min(Math.ceil(ms), dayMs) : undefined;
}

/**
 * Returns the delay in ms that a service requests: in the standard header, Discord's header, or a field of its JSON.
 */
function parseRetryDelay({ status, headers, body }: FetchReply): number | undefined {
  const standard = parseRetryAfter(headers['retry-after'], Date.parse(headers['date'] ?? ''));
  if (standard !== undefined || status !== 429) return standard;
  const reset = parseRetryAfter(headers['x-ratelimit-reset-after'], 0);
  // Telegram has the field in `parameters`, Discord and Matrix (in ms) at the top level.
  const text = Buffer.from(body.subarray(0, 4096)).toString('utf8');
  const [, unit, seconds] = /"retry_after(_ms)?"\s*:\s*(\d+(?:\.\d+)?)/.exec(text) ?? [];
  return (
    reset ?? parseRetryAfter(seconds === undefined || unit === undefined ? seconds : String(Number(seconds) / 1000), 0)
  );
}

/** Explanations of HTTP status codes. */
const meanings: Readonly<Record<number, string>> = {
  401: 'the password or token is not accepted',
  403: 'it does not allow this',
  404: 'it does not know this address, so the URL may be mistyped or no longer valid',
  410: 'the address is no longer in use',
  413: 'the message or a file is too large for it',
  429: 'it gets too much at once',
};

/** Returns true for a 2xx response. */
export function isSuccess({ status }: FetchReply): boolean {
  return status >= 200 && status < 300;
}

/**
 * Converts an error response to a result: 408, 425, 429 and 5xx are retried, all others are final. `reason` is the
 * explanation of the service.
 */
export function toRefusalResult(reply: FetchReply, noun: string, reason: string): DeliveryResult {
  const { status } = reply;
  const wait = parseRetryDelay(reply);
  const meaning = meanings[status];
  return {
    ok: false,
    status,
    retryable: status >= 500 || status === 408 || status === 425 || status === 429,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    detail: `${formatSendFailure(noun, status)}${meaning === undefined ? '' : `: ${meaning}`}.${formatReply(reason)}`,
  };
}

/**
 * Converts a failed request to a result; programming errors are thrown again. A response that exceeds the size limit
 * is final, because a retry would send the notification again. `code` is for problems without a code of their own.
 */
export function toErrorResult(error: unknown, failureText: string, code?: NotifyFailureCode): DeliveryResult {
  if (!(error instanceof Problem)) throw error;
  return {
    ok: false,
    retryable: error.retryable && error.code !== 'fetch.too_large',
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.code === 'fetch.untrusted' ? { lastAttempt: maxUntrustedAttempts } : {}),
    ...withFailureCode(findProblemCode(error) ?? code),
    detail: `${failureText}: ${error.detail}`,
  };
}

/** Converts a failed TLS handshake to a result, by the error code of Node; undefined for other failures. */
export function toHandshakeResult(code: unknown, host: string, failureText: string): DeliveryResult | undefined {
  const problem = findCertificateProblem(code);
  if (problem === undefined) return undefined;
  return {
    ok: false,
    retryable: true,
    lastAttempt: maxUntrustedAttempts,
    code: 'untrusted',
    detail: `${failureText}: The certificate from ${host} isn’t trusted: ${problem()}.`,
  };
}

/** Codes of problems of requests. */
const codesByProblem: Readonly<Record<string, NotifyFailureCode>> = {
  'fetch.timeout': 'timeout',
  'fetch.untrusted': 'untrusted',
  'fetch.own_listener': 'own_address',
  'fetch.refused_address': 'address_refused',
  'fetch.too_large': 'too_large',
};

/** Codes of errors of a connection, by the code of Node. */
const codesByError: Readonly<Record<string, NotifyFailureCode>> = {
  EDNS: 'unknown_host',
  ENOTFOUND: 'unknown_host',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ECONNRESET: 'reset',
  ETIMEDOUT: 'timeout',
};

function findProblemCode(error: Problem): NotifyFailureCode | undefined {
  const code = findOwn(codesByProblem, error.code) ?? findConnectionCode(error.cause);
  return code ?? (error.code === 'fetch.failed' ? 'request_failed' : undefined);
}

/** Returns the code of an error of a connection, or of an AggregateError that begins with one. */
export function findConnectionCode(error: unknown): NotifyFailureCode | undefined {
  if (error instanceof AggregateError) return findConnectionCode(error.errors[0]);
  return error instanceof Error && 'code' in error ? toFailureCode(error.code) : undefined;
}

/** Converts a code of Node or of the mail library. */
export function toFailureCode(code: unknown): NotifyFailureCode | undefined {
  return findOwn(codesByError, String(code));
}

/** Returns the property for a code, if there is one. */
export function withFailureCode(code: NotifyFailureCode | undefined): { readonly code?: NotifyFailureCode } {
  return code === undefined ? {} : { code };
}
