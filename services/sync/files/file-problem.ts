import * as m from '#messages/sync-problems';
import { Problem } from '../../contracts/problem.ts';
import { readText } from '../../contracts/text.ts';
import { CallError } from '../access/call-error.ts';
import { explainFailure } from '../domain/failure-cause.ts';
import { getErrorMessage, type EngineResponse } from '../engine/engine-client.ts';

/** Converts the refusal or failure of a listing. Other errors are returned unchanged. */
export function toListingProblem(error: unknown, location: string): unknown {
  if (!(error instanceof CallError)) return error;
  return new Problem('sync.location_not_allowed', error.status, () =>
    m.cannotBeShown({ reason: getReason(error, location) }),
  );
}

/** Runs an operation, and converts its refusal. @throws Problem */
export async function withFileProblems<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw new Problem('sync.location_not_allowed', error.status, () =>
      m.notAllowed({ reason: getReason(error, location) }),
    );
  }
}

/** Returns the body of a successful call. @throws Problem */
export function getBody({ status, body }: EngineResponse, location: string): EngineResponse['body'] {
  if (status === 200) return body;
  const error = getErrorMessage(body);
  throw new Problem('sync.engine', status === 404 ? 404 : 502, () =>
    toSentence(explainFailure({ error, code: '' }, location).error),
  );
}

function getReason({ message, text }: CallError, location: string): string {
  return text === undefined ? toSentence(explainFailure({ error: message, code: '' }, location).error) : readText(text);
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}
