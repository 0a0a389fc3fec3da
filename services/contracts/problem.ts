/** What a {@link Problem} may carry besides its code, status and sentence. */
export interface ProblemOptions {
  /** The error that led here; logged, never shown to a client. */
  readonly cause?: unknown;
  /** Messages by field path (`services.push.port`), for forms and `config check`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Response headers the answer must carry, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For jobs: false makes the failure final. Unset: final only for 4xx other than 408, 425 and 429. */
  readonly retryable?: boolean;
  /** For jobs: do not try again earlier than this many milliseconds from now. */
  readonly retryAfterMs?: number;
  /** For jobs of an order key: it is tried again on its own, and those behind it wait for it no longer. */
  readonly stepsAside?: boolean;
}

/**
 * The one kind of error the code throws on purpose. Every wire format renders it in its peer's own error shape;
 * anything else that is thrown is a defect, answered as 500 with an id under which the log has the details.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** Stable, dotted, lower case: `<service>.<what>`, e.g. `downloads.unsupported_url`. */
  readonly code: string;
  /** HTTP status, also the hint for SMTP and jobs (5xx: temporary). */
  readonly status: number;
  /** A sentence for a person: what happened and what to do. Holds no secret. */
  readonly detail: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly stepsAside: boolean;

  constructor(code: string, status: number, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.fields = options.fields ?? {};
    this.headers = options.headers ?? {};
    this.retryable = options.retryable ?? (status >= 500 || status === 408 || status === 425 || status === 429);
    this.retryAfterMs = options.retryAfterMs;
    this.stepsAside = options.stepsAside ?? false;
  }
}
