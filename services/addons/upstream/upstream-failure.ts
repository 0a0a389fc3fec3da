import type { Text } from '../../contracts/text.ts';
import { TextError } from '../domain/text-error.ts';
import * as m from '#messages/addons-problems';
import { Problem } from '../../contracts/problem.ts';
import { ProviderError } from '../domain/provider-error.ts';

/** Failure of an addon with a text that players show. */
export class UpstreamFailure extends TextError {
  override readonly name = 'UpstreamFailure';
  /** Reason for metrics: `timeout`, `status`, `malformed`, `refused`, `unreachable`, `too_large` or `provider`. */
  readonly kind: string;

  constructor(kind: string, text: Text, cause?: unknown) {
    super(text, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Converts milliseconds to seconds with one decimal place. */
export function toSeconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/** Converts an error of a request to an addon into a message. */
export function toUpstreamFailure(error: unknown, name: string, timeoutMs: number): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  // Built-in addons request a debrid service, whose error has a message.
  if (error instanceof ProviderError) return new UpstreamFailure('provider', error.text, error);
  if (error instanceof Problem) {
    if (error.code === 'fetch.timeout')
      return new UpstreamFailure('timeout', () => m.addonTimeout({ name, seconds: toSeconds(timeoutMs) }), error);
    if (error.code === 'fetch.too_large')
      return new UpstreamFailure('too_large', () => m.addonResponseTooLarge({ name }), error);
    if (error.code === 'addons.refused_address' || error.code === 'fetch.refused_address')
      return new UpstreamFailure('refused', error.text, error);
    return new UpstreamFailure('unreachable', () => m.addonUnreachable({ name, reason: error.detail }), error);
  }
  return new UpstreamFailure('unreachable', () => m.addonRequestFailed({ name }), error);
}

/** Converts an HTTP status of an addon into a message. */
export function toStatusFailure(status: number, name: string): UpstreamFailure {
  const describe =
    status === 429
      ? m.addonRateLimited
      : status === 401 || status === 403
        ? m.addonForbidden
        : status === 404
          ? m.addonNotFound
          : status >= 500
            ? m.addonInternalError
            : m.addonStatus;
  return new UpstreamFailure('status', () => describe({ name, status: String(status) }));
}
