import { findCertificateProblem } from '../../contracts/certificates.ts';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { DeliveryResult } from './destination.ts';

const dayMs = 24 * 3600 * 1000;
/** A certificate stays what it is until someone changes it; once more, in case it is being renewed just now. */
const maxUntrustedAttempts = 2;

/** Seconds or a date (RFC 9110, 10.2.3); undefined when it says nothing usable. At most a day. */
function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? Math.min(Math.ceil(ms), dayMs) : undefined;
}

/** How long a service asks to wait: by the standard header, Discord's own, or a number of seconds in its JSON. */
function parseRetryDelay({ status, headers, body }: FetchReply): number | undefined {
  const standard = parseRetryAfter(headers['retry-after'], Date.parse(headers['date'] ?? ''));
  if (standard !== undefined || status !== 429) return standard;
  const reset = parseRetryAfter(headers['x-ratelimit-reset-after'], 0);
  // Telegram has it among `parameters`, Discord and Matrix (in ms) at the top.
  const text = Buffer.from(body.subarray(0, 4096)).toString('utf8');
  const [, unit, seconds] = /"retry_after(_ms)?"\s*:\s*(\d+(?:\.\d+)?)/.exec(text) ?? [];
  return (
    reset ?? parseRetryAfter(seconds === undefined || unit === undefined ? seconds : String(Number(seconds) / 1000), 0)
  );
}

/** What a status says to the owner, beside its number. */
const meanings: Readonly<Record<number, string>> = {
  401: 'the password or token is not accepted',
  403: 'it does not allow this',
  404: 'it does not know this address, so the URL may be mistyped or no longer valid',
  410: 'the address is no longer in use',
  413: 'the message or a file is too large for it',
  429: 'it gets too much at once',
};

/** Whether an HTTP answer means that the delivery was made: any 2xx. */
export function isSuccess({ status }: FetchReply): boolean {
  return status >= 200 && status < 300;
}

/**
 * What a refusal means for a delivery: 408, 425, 429 and 5xx are tried again, the rest is final. `reason` is what the service
 * said about it.
 */
export function toRefusalResult(reply: FetchReply, failureText: string, reason: string): DeliveryResult {
  const { status } = reply;
  const wait = parseRetryDelay(reply);
  const meaning = meanings[status];
  return {
    ok: false,
    status,
    retryable: status >= 500 || status === 408 || status === 425 || status === 429,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    detail: `${failureText}, error=${status}${meaning === undefined ? '' : `: ${meaning}`}.${reason === '' ? '' : ` It said: ${reason}`}`,
  };
}

/**
 * What a failure to get an answer means. Defects are passed on. An answer that is too long to be read is one all the same:
 * to send again would show the notice once more.
 */
export function toErrorResult(error: unknown, failureText: string): DeliveryResult {
  if (!(error instanceof Problem)) throw error;
  return {
    ok: false,
    retryable: error.retryable && error.code !== 'fetch.too_large',
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.code === 'fetch.untrusted' ? { lastAttempt: maxUntrustedAttempts } : {}),
    detail: `${failureText}: ${error.detail}`,
  };
}

/** What a failed handshake means, by the code Node gives it; undefined for another failure. */
export function toHandshakeResult(code: unknown, host: string, failureText: string): DeliveryResult | undefined {
  const problem = findCertificateProblem(code);
  if (problem === undefined) return undefined;
  return {
    ok: false,
    retryable: true,
    lastAttempt: maxUntrustedAttempts,
    detail: `${failureText}: The certificate of ${host} is not trusted: ${problem}.`,
  };
}
