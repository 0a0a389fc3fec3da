/** A check that failed: its message is what the beat says. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  /** The target answered, with a code that is not accepted. */
  readonly byStatusCode: boolean;
  /** The check itself is not possible: the target was not asked, so that this says nothing of it. */
  readonly notChecked: boolean;
  constructor(message: string, options: { readonly byStatusCode?: boolean; readonly notChecked?: boolean } = {}) {
    super(message);
    this.byStatusCode = options.byStatusCode ?? false;
    this.notChecked = options.notChecked ?? false;
  }
}

/** Codes of what fails on the way to a target and says nothing of it, where this machine has lost its network. */
const onTheWay = new Set([
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

/** What to say of an error, and whether it may be our own network that failed. */
export function explain(error: unknown): { readonly msg: string; readonly unreachable: boolean } {
  // Happy eyeballs fail with one error for all addresses; the first says it.
  const first = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  const message = first instanceof Error ? first.message || first.name : String(first);
  const code: unknown = first instanceof Error && 'code' in first ? first.code : undefined;
  return { msg: message.slice(0, 1000), unreachable: typeof code === 'string' && onTheWay.has(code) };
}

/** A failure of the monitor's own settings, which says nothing of its target. */
export function notChecked(message: string): CheckFailure {
  return new CheckFailure(message, { notChecked: true });
}
