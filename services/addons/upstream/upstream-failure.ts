import { Problem } from '../../contracts/problem.ts';
import { ProviderError } from '../domain/provider-error.ts';

/** Failure of an addon with a message that players show. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  /** Reason for metrics: `timeout`, `status`, `malformed`, `refused`, `unreachable`, `too_large` or `provider`. */
  readonly kind: string;

  constructor(kind: string, sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Formats a duration in seconds. */
export function formatSeconds(ms: number): string {
  return `${String(Math.round(ms / 100) / 10)} s`;
}

/** Converts an error of a request to an addon into a message. */
export function toUpstreamFailure(error: unknown, name: string, timeoutMs: number): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  // Built-in addons request a debrid service, whose error has a message.
  if (error instanceof ProviderError) return new UpstreamFailure('provider', error.message, error);
  if (error instanceof Problem) {
    if (error.code === 'fetch.timeout')
      return new UpstreamFailure('timeout', `${name} did not answer within ${formatSeconds(timeoutMs)}.`, error);
    if (error.code === 'fetch.too_large')
      return new UpstreamFailure('too_large', `${name} answered with far more than an addon has to say.`, error);
    if (error.code === 'addons.refused_address' || error.code === 'fetch.refused_address')
      return new UpstreamFailure('refused', error.detail, error);
    return new UpstreamFailure('unreachable', `${name} could not be reached: ${error.detail}`, error);
  }
  return new UpstreamFailure('unreachable', `${name} could not be asked.`, error);
}

/** Converts an HTTP status of an addon into a message. */
export function toStatusFailure(status: number, name: string): UpstreamFailure {
  const sentence =
    status === 429
      ? `${name} asks for fewer requests. Try again in a minute.`
      : status === 401 || status === 403
        ? `${name} refuses to answer (${String(status)}). Its address may hold an old key.`
        : status === 404
          ? `${name} has nothing at this address (404).`
          : status >= 500
            ? `${name} has an internal error (${String(status)}).`
            : `${name} answered with status ${String(status)}.`;
  return new UpstreamFailure('status', sentence);
}
