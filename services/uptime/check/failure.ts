import type {
  CheckFailureCode,
  CheckFailureParameters,
  CheckMessage,
  CodedFailure,
} from '../../contracts/uptime/causes.ts';
import { failureSentences } from './stated-failures.ts';

interface CheckFailureOptions {
  readonly byStatusCode?: boolean;
  readonly notChecked?: boolean;
  readonly failure?: CodedFailure;
  readonly cause?: unknown;
}

/** Failed check. The message becomes the message of the heartbeat. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  /** The target responded with a status code that is not accepted. */
  readonly byStatusCode: boolean;
  /** The target was not contacted because the check could not run. */
  readonly notChecked: boolean;
  /** Code of a failure that the check states; undefined for messages of libraries and of Uptime Kuma. */
  readonly failure: CodedFailure | undefined;

  constructor(message: string, options: CheckFailureOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.failure = options.failure;
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

/**
 * Returns the message of an error with the code of a stated failure, and whether a missing network of this computer can
 * be its cause.
 */
export function describeError(error: unknown): CheckMessage & { readonly unreachable: boolean } {
  // Happy Eyeballs (RFC 8305) reports one error per address; the first one is used.
  const first = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  const message = first instanceof Error ? first.message || first.name : String(first);
  const code = getErrorCode(first) ?? (first instanceof CheckFailure ? getErrorCode(first.cause) : undefined);
  const failure = first instanceof CheckFailure ? first.failure : undefined;
  return {
    msg: message.slice(0, 1000),
    ...(failure === undefined ? {} : { failure }),
    unreachable: code !== undefined && networkErrorCodes.has(code),
  };
}

/** Returns the code of a system error, such as ECONNREFUSED. */
export function getErrorCode(error: unknown): string | undefined {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : undefined;
}

/** Returns the message of a failure that a check states, in English, with its code. */
export function stateFailure<Code extends CheckFailureCode>(
  code: Code,
  parameters: CheckFailureParameters[Code],
): { readonly msg: string; readonly failure: CodedFailure } {
  return { msg: failureSentences[code](parameters), failure: { code, parameters } };
}

/** Creates the failure of a target that a check states. */
export function createTargetFailure<Code extends CheckFailureCode>(
  code: Code,
  parameters: CheckFailureParameters[Code],
  cause?: unknown,
): CheckFailure {
  const { msg, failure } = stateFailure(code, parameters);
  return new CheckFailure(msg, { failure, cause });
}

/** Creates a failure that the settings of the monitor cause instead of its target. */
export function createSettingsFailure<Code extends CheckFailureCode>(
  code: Code,
  parameters: CheckFailureParameters[Code],
): CheckFailure {
  const { msg, failure } = stateFailure(code, parameters);
  return new CheckFailure(msg, { failure, notChecked: true });
}
