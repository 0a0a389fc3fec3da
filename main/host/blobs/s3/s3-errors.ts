import * as m from '#messages/host-problems';
import { NoSuchBucket, S3ServiceException } from '@aws-sdk/client-s3';
import { Problem } from '../../../../services/contracts/problem.ts';
import { readText, type Text } from '../../../../services/contracts/text.ts';

/** Seconds after which clients may repeat a request that failed. */
const retryAfterSeconds = 30;

/** Returns whether an object or a version of it does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && ['NoSuchKey', 'NotFound'].includes(error.name);
}

/** Returns whether a conditional write was refused because the object exists. */
export function isPreconditionFailure(error: unknown): boolean {
  return (
    error instanceof S3ServiceException && (getStatus(error) === 412 || error.name === 'ConditionalRequestConflict')
  );
}

/** Converts an error of the client to a problem that contains no address with a signature and no key. */
export function toStoreProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const headers = { 'Retry-After': String(retryAfterSeconds) };
  return new Problem('blobs.unavailable', 503, () => readText(explain(error)), {
    cause: error,
    headers,
    retryable: true,
  });
}

function explain(error: unknown): Text {
  if (error instanceof NoSuchBucket || getName(error) === 'NoSuchBucket') return m.s3BucketMissing;
  if (error instanceof S3ServiceException) {
    const status = getStatus(error);
    // Responses to HEAD have no code.
    const code = error.name.startsWith('Unknown') ? `HTTP ${String(status)}` : error.name;
    return status === 401 || status === 403 ? () => m.s3Denied({ code }) : () => m.s3Failed({ code });
  }
  const code = getCode(error);
  if (code === 'ECONNREFUSED') return m.s3Refused;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return m.s3NameUnknown;
  if (getName(error) === 'TimeoutError' || code === 'ETIMEDOUT') return m.s3Timeout;
  return () => m.s3Failed({ code: code ?? getName(error) });
}

function getStatus(error: S3ServiceException): number {
  return error.$metadata.httpStatusCode ?? 0;
}

function getName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** Returns the code of a system error, also of one that Node collected for several addresses. */
function getCode(error: unknown): string | undefined {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : undefined;
}
