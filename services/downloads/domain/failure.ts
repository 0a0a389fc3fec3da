import { sourceLanguage, withLanguage } from '../../../messages/language.ts';
import { getFailureCause, type FailureCode, type FailureParameters } from '../../contracts/downloads/causes.ts';
import { Problem, type ProblemOptions } from '../../contracts/problem.ts';
import type { Text } from '../../contracts/text.ts';
import { withoutSecrets, type Refusal } from './address.ts';
import type { FailureKind } from './engine-messages.ts';

/** Failure of a download or check with its cause. */
export interface DownloadFailure {
  /** Text of the extractor, or of the service in English. It is stored for the clients of MeTube. */
  readonly message: string;
  /** Known cause, which has an explanation and a remedy; null for any other. */
  readonly failure: FailureCode | null;
  /** Values of the explanation's text, if it has any. */
  readonly failureParameters?: FailureParameters | undefined;
  readonly kind: FailureKind;
}

/**
 * Creates a failure with a text of the service. Its code and parameters are stored, so that each reader gets the text in
 * their language.
 */
export function createServiceFailure(
  failure: FailureCode,
  kind: FailureKind,
  failureParameters: FailureParameters = {},
): DownloadFailure {
  const describe = (): string => getFailureCause({ message: null, failure, failureParameters }).text;
  return { message: withLanguage(sourceLanguage, describe), failure, failureParameters, kind };
}

/** Problem of a download that states its cause, so that no code has to read the message. */
export class DownloadProblem extends Problem {
  readonly failure: FailureCode | null;
  readonly failureParameters: FailureParameters | undefined;
  readonly kind: FailureKind;

  constructor(code: string, status: number, failure: DownloadFailure, options: Pick<ProblemOptions, 'cause'> = {}) {
    super(code, status, toText(failure), options);
    this.failure = failure.failure;
    this.failureParameters = failure.failureParameters;
    this.kind = failure.kind;
  }
}

/** Returns the text of a failure: that of the service in the language of its reader, or that of the extractor. */
function toText({ message, failure, failureParameters }: DownloadFailure): Text {
  if (failure === null || failureParameters === undefined) return message;
  return () => getFailureCause({ message, failure, failureParameters }).text;
}

/** Returns the failure of a problem, with the message in English. The text of any other error is not for users. */
export function toDownloadFailure(error: unknown): DownloadFailure {
  if (!(error instanceof Problem)) return createServiceFailure('internal_error', 'other');
  if (!(error instanceof DownloadProblem)) return { message: error.message, failure: null, kind: 'other' };
  const { message, failure, failureParameters, kind } = error;
  return { message, failure, failureParameters, kind };
}

/** Creates the problem of a failed run of the extractor. */
export function createEngineProblem(failure: DownloadFailure): DownloadProblem {
  const { failureParameters } = failure;
  const parameters = Object.entries(failureParameters ?? {}).map(([name, value]) => [name, withoutSecrets(value)]);
  return new DownloadProblem('downloads.engine_failed', 502, {
    ...failure,
    message: withoutSecrets(failure.message),
    failureParameters: failureParameters && (Object.fromEntries(parameters) as FailureParameters),
  });
}

/** Creates the problem of an address that may not be fetched. */
export function createRefusedProblem(status: number, { msg, failure }: Refusal): DownloadProblem {
  const message = withoutSecrets(msg);
  return new DownloadProblem('downloads.refused', status, { message, failure: failure ?? null, kind: 'refused' });
}
