import type { IncomingMessage } from 'node:http';
import type { Access, Caller } from '../access/access.ts';
import { CallError } from '../access/call-error.ts';
import { calls } from '../access/calls.ts';
import { stopOnAbort } from '../jobs/stop-on-abort.ts';
import type { CallResponse } from './dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import type { Jobs } from '../jobs/jobs.ts';

export interface UploadOptions {
  readonly access: Access;
  readonly jobs: Jobs;
  readonly engine: Engine;
}

/** Handles `operations/uploadfile`: streams the files to the engine, which removes paths from their names. */
export async function upload(
  { access, engine, jobs }: UploadOptions,
  caller: Caller,
  {
    request,
    query,
    disconnected,
  }: { readonly request: IncomingMessage; readonly query: URLSearchParams; readonly disconnected: AbortSignal },
): Promise<CallResponse> {
  const path = 'operations/uploadfile';
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\//i.test(type)) throw new CallError(400, "request Content-Type isn't multipart/form-data");
  const parameters = Object.fromEntries(query);
  const { _async: _, _group: __, ...input } = await access.check(caller, path, calls[path] ?? {}, parameters);
  const engineQuery = `?${new URLSearchParams(Object.entries(input).map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
  const length = request.headers['content-length'];
  const headers = { 'content-type': type, ...(length === undefined ? {} : { 'content-length': length }) };
  const { job, ended } = await jobs.start({
    kind: path,
    account: caller.account,
    input,
    durable: false,
    work: (running) =>
      engine.call(
        path,
        {},
        { stream: { body: request, headers, query: engineQuery }, signal: running.stopping.signal },
      ),
  });
  const outcome = await stopOnAbort(disconnected, jobs, job, ended);
  return { ...outcome, jobId: job.id };
}
