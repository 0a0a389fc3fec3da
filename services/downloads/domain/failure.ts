import type { FailureCode } from '../../contracts/downloads/causes.ts';
import { Problem, type ProblemOptions } from '../../contracts/problem.ts';
import { withoutSecrets, type Refusal } from './address.ts';
import type { FailureKind } from './engine-messages.ts';

/** Failure of a download or check with its cause. */
export interface DownloadFailure {
  /** Message for the user: the extractor's text or a sentence of the service. */
  readonly message: string;
  /** Known cause, which has an explanation and a remedy; null for any other. */
  readonly failure: FailureCode | null;
  readonly kind: FailureKind;
}

/** Problem of a download that states its cause, so that no code has to read the message. */
export class DownloadProblem extends Problem {
  readonly failure: FailureCode | null;
  readonly kind: FailureKind;

  constructor(
    code: string,
    status: number,
    { message, failure, kind }: DownloadFailure,
    options: Pick<ProblemOptions, 'cause'> = {},
  ) {
    super(code, status, message, options);
    this.failure = failure;
    this.kind = kind;
  }
}

/** Returns the failure of a problem; `message` describes any other error, whose text is not for users. */
export function toDownloadFailure(error: unknown, message: string): DownloadFailure {
  if (!(error instanceof Problem)) return { message, failure: null, kind: 'other' };
  const { failure, kind } = error instanceof DownloadProblem ? error : ({ failure: null, kind: 'other' } as const);
  return { message: error.detail, failure, kind };
}

/** Creates the problem of a failed run of the extractor. */
export function createEngineProblem(failure: DownloadFailure): DownloadProblem {
  const message = withoutSecrets(failure.message);
  return new DownloadProblem('downloads.engine_failed', 502, { ...failure, message });
}

/** Creates the problem of an address that may not be fetched. */
export function createRefusedProblem(status: number, { msg, failure }: Refusal): DownloadProblem {
  const message = withoutSecrets(msg);
  return new DownloadProblem('downloads.refused', status, { message, failure: failure ?? null, kind: 'refused' });
}
