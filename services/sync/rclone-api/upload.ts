import type { IncomingMessage } from 'node:http';
import type { Access, Caller } from './access.ts';
import { CallError } from './call-error.ts';
import { calls } from './calls.ts';
import { stoppedBy } from '../jobs/stopped-by.ts';
import type { CallAnswer } from './dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import type { Jobs } from '../jobs/jobs.ts';

export interface UploadParts {
  readonly access: Access;
  readonly jobs: Jobs;
  readonly engine: () => Engine;
}

/** `operations/uploadfile`: the files stream through to the engine, which takes their names without any path. */
export async function upload(
  { access, engine, jobs }: UploadParts,
  caller: Caller,
  { request, url, left }: { readonly request: IncomingMessage; readonly url: URL; readonly left: AbortSignal },
): Promise<CallAnswer> {
  const path = 'operations/uploadfile';
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\//i.test(type)) throw new CallError(400, "request Content-Type isn't multipart/form-data");
  const given = Object.fromEntries(url.searchParams);
  const { _async: _, _group: __, ...input } = await access.check(caller, path, calls[path] ?? {}, given);
  const query = `?${new URLSearchParams(Object.entries(input).map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
  const length = request.headers['content-length'];
  const headers = { 'content-type': type, ...(length === undefined ? {} : { 'content-length': length }) };
  const { job, ended } = await jobs.begin({
    ...{ kind: path, account: caller.account, input, durable: false },
    work: (running) =>
      engine().call(path, {}, { stream: { body: request, headers, query }, signal: running.stopping.signal }),
  });
  const outcome = await stoppedBy(left, jobs, job, ended);
  return { ...outcome, jobId: job.id };
}
