import type { Text } from '../../contracts/text.ts';
import { TextError } from './text-error.ts';

/** Error codes shared by all services. Each client maps the codes of its service to these. */
export type ProviderErrorCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'PAYMENT_REQUIRED'
  | 'TOO_MANY_REQUESTS'
  | 'STORE_LIMIT_EXCEEDED'
  | 'STORE_MAGNET_INVALID'
  | 'UNAVAILABLE_FOR_LEGAL_REASONS'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'SERVICE_UNAVAILABLE'
  | 'BAD_GATEWAY'
  | 'UNKNOWN';

/** Failure of a service. The text is shown to users and contains no credentials. */
export class ProviderError extends TextError {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  /** Error code or text of the service. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  /** The rate limit applies to the whole account instead of one operation. */
  readonly isAboutAccount: boolean;

  constructor(
    code: ProviderErrorCode,
    text: Text,
    {
      reason = '',
      retryAfterMs,
      isAboutAccount = false,
    }: { reason?: string; retryAfterMs?: number | undefined; isAboutAccount?: boolean } = {},
  ) {
    super(text);
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.isAboutAccount = isAboutAccount;
  }
}
