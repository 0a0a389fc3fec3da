import { sourceLanguage, withLanguage } from '../../messages/language.ts';
import { readText, type Text } from './text.ts';

/** Options of a {@link Problem} in addition to code, status and detail. */
export interface ProblemOptions {
  /** Original error; logged, never sent to a client. */
  readonly cause?: unknown;
  /** Messages by field path (`services.push.port`), for forms and `config check`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Additional response headers, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For jobs: false makes the failure final. Unset: final only for 4xx other than 408, 425 and 429. */
  readonly retryable?: boolean;
  /** For jobs: minimum delay before the next attempt. */
  readonly retryAfterMs?: number;
  /** For jobs with an order key: the job is retried on its own and its successors no longer wait for it. */
  readonly stepsAside?: boolean;
}

/**
 * The only kind of error that code throws on purpose. Each protocol renders it in its peer's error format. Any other
 * exception is a defect: it is answered with 500 and an id under which the log has the details.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** Stable, dotted, lower case: `<service>.<reason>`, e.g. `downloads.unsupported_url`. */
  readonly code: string;
  /** HTTP status; SMTP and jobs derive from it whether the failure is temporary (5xx). */
  readonly status: number;
  /**
   * Sentence for display: cause and remedy. Contains no secret. A message function is for a failure that is shown
   * later, such as the reason of a service that could not start: each reader gets it in their language.
   */
  readonly text: Text;
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly stepsAside: boolean;

  constructor(code: string, status: number, text: Text, options: ProblemOptions = {}) {
    // The message is for the log, which is in English.
    const message = typeof text === 'string' ? text : withLanguage(sourceLanguage, text);
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = status;
    this.text = text;
    this.fields = options.fields ?? {};
    this.headers = options.headers ?? {};
    this.retryable = options.retryable ?? (status >= 500 || status === 408 || status === 425 || status === 429);
    this.retryAfterMs = options.retryAfterMs;
    this.stepsAside = options.stepsAside ?? false;
  }

  /** The sentence in the current language. */
  get detail(): string {
    return readText(this.text);
  }
}
