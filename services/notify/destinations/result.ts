import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/service.ts';
import type { Result } from './destination.ts';

/** Seconds or a date (RFC 9110, 10.2.3); undefined when it says nothing usable. At most a day. */
function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, 24 * 3600 * 1000) : undefined;
}

/** What an HTTP answer means for a delivery: 2xx is done, 408, 425, 429 and 5xx are tried again, the rest is final. */
export function resultOfReply(reply: FetchReply, sent: string, notSent: string): Result {
  const { status } = reply;
  if (status >= 200 && status < 300) return { ok: true, detail: sent };
  const date = Date.parse(reply.headers['date'] ?? '');
  const wait = retryAfter(reply.headers['retry-after'], date);
  return {
    ok: false,
    status,
    retryable: status >= 500 || status === 408 || status === 425 || status === 429,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    detail: `${notSent}, error=${status}.`,
  };
}

/**
 * What a failure to get an answer means. Defects are passed on. An answer that is too long to be read is one all the same:
 * to send again would show the notice once more.
 */
export function resultOfError(error: unknown, notSent: string): Result {
  if (!(error instanceof Problem)) throw error;
  return {
    ok: false,
    retryable: error.retryable && error.code !== 'fetch.too_large',
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    detail: `${notSent}: ${error.detail}`,
  };
}
