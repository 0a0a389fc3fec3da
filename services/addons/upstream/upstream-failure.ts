import { Problem } from '../../contracts/problem.ts';
import { ProviderError } from '../providers/provider.ts';

/** Why an addon gave nothing, as a sentence for the person in front of the television. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  /** For metrics: `timeout`, `status`, `malformed`, `refused`, `unreachable`, `too_large`, `provider`. */
  readonly kind: string;

  constructor(kind: string, sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Seconds as people write them. */
export function inSeconds(ms: number): string {
  return `${String(Math.round(ms / 100) / 10)} s`;
}

/** What was thrown while an addon was asked, as a sentence about it. */
export function explainUpstream(error: unknown, name: string, timeoutMs: number): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  // An addon that lives here asks a debrid service, which has said why.
  if (error instanceof ProviderError) return new UpstreamFailure('provider', error.message, error);
  if (error instanceof Problem) {
    if (error.code === 'fetch.timeout')
      return new UpstreamFailure('timeout', `${name} did not answer within ${inSeconds(timeoutMs)}.`, error);
    if (error.code === 'fetch.too_large')
      return new UpstreamFailure('too_large', `${name} answered with far more than an addon has to say.`, error);
    if (error.code === 'addons.refused_address' || error.code === 'fetch.refused_address')
      return new UpstreamFailure('refused', error.detail, error);
    return new UpstreamFailure('unreachable', `${name} could not be reached: ${error.detail}`, error);
  }
  return new UpstreamFailure('unreachable', `${name} could not be asked.`, error);
}

/** What a status says about an addon. */
export function explainStatus(status: number, name: string): UpstreamFailure {
  const sentence =
    status === 429
      ? `${name} asks for fewer requests. Try again in a minute.`
      : status === 401 || status === 403
        ? `${name} refuses to answer (${String(status)}). Its address may hold an old key.`
        : status === 404
          ? `${name} has nothing at this address (404).`
          : status >= 500
            ? `${name} has trouble of its own (${String(status)}).`
            : `${name} answered with status ${String(status)}.`;
  return new UpstreamFailure('status', sentence);
}
