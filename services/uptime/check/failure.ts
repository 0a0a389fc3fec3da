/** Failed check. The message becomes the message of the heartbeat. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  /** The target responded with a status code that is not accepted. */
  readonly byStatusCode: boolean;
  /** The target was not contacted because the check could not run. */
  readonly notChecked: boolean;
  constructor(message: string, options: { readonly byStatusCode?: boolean; readonly notChecked?: boolean } = {}) {
    super(message);
    this.byStatusCode = options.byStatusCode ?? false;
    this.notChecked = options.notChecked ?? false;
  }
}

/** Error codes that can result from a missing network of this computer instead of a fault of the target. */
const networkErrorCodes = new Set([
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

/** Returns the message of an error, and whether a missing network of this computer can be its cause. */
export function describeError(error: unknown): { readonly msg: string; readonly unreachable: boolean } {
  // Happy Eyeballs (RFC 8305) reports one error per address; the first one is used.
  const first = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  const message = first instanceof Error ? first.message || first.name : String(first);
  const code: unknown = first instanceof Error && 'code' in first ? first.code : undefined;
  return { msg: message.slice(0, 1000), unreachable: typeof code === 'string' && networkErrorCodes.has(code) };
}

/** Returns a failure caused by the settings of the monitor instead of its target. */
export function createSettingsFailure(message: string): CheckFailure {
  return new CheckFailure(message, { notChecked: true });
}
