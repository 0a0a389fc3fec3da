import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Repository } from '../repositories/repositories.ts';
import { readBytes } from '../gitea-api/call.ts';
import type { Caller } from '../sign-in/caller.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Request of a Git LFS client. */
export interface LfsCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** `http://host:3030/owner/name.git/info/lfs` */
  readonly root: string;
  readonly caller: Caller;
  /** Returns the repository if the caller has the access level. @throws Problem (401, 403, 404) */
  readonly requireRepository: (level: 'read' | 'write', detail?: string) => Promise<Repository>;
}

const maxBodyBytes = 8 * 1024 * 1024;

/** Reads and validates the JSON body of a request. @throws Problem (400) */
export async function lfsBody<Schema extends z.ZodType>(
  request: IncomingMessage,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = (await readBytes(request, maxBodyBytes)).toString('utf8');
  try {
    return schema.parse(text.trim() === '' ? {} : parseJson(text));
  } catch (cause) {
    throw new Problem('git.bad_request', 400, 'Bad Request', { cause });
  }
}
