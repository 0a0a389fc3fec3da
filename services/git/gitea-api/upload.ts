import busboy from 'busboy';
import type { Readable } from 'node:stream';
import { Problem } from '../../contracts/problem.ts';
import type { Call } from './call.ts';

/** Streams the uploaded file to a consumer: the form field `attachment`, or the whole body. @throws Problem (400) */
export async function readUpload<Result>(
  { query, request }: Pick<Call, 'query' | 'request'>,
  consume: (name: string, bytes: Readable) => Promise<Result>,
): Promise<Result> {
  const requestedName = query.get('name') ?? '';
  if (!(request.headers['content-type'] ?? '').toLowerCase().startsWith('multipart/form-data')) {
    if (requestedName === '') throw badUpload('a file needs a name');
    return consume(toFileName(requestedName), request);
  }
  let result: Promise<Result> | undefined;
  await new Promise<void>((resolve, reject) => {
    const form = busboy({ headers: request.headers, limits: { files: 1 }, preservePath: false });
    form.on('file', (field, file, { filename }) => {
      // The reader gets the error too; this handles a form that breaks before it is read.
      file.on('error', () => undefined);
      if (field !== 'attachment') return void file.resume();
      result = consume(toFileName(requestedName === '' ? (filename ?? '') : requestedName), file);
      // An unread file keeps the form open, so the rest of the request is discarded.
      result.catch((cause: unknown) => {
        request.unpipe(form);
        request.resume();
        reject(cause instanceof Error ? cause : badUpload('it could not be kept', cause));
      });
    });
    form.on('close', resolve).on('error', (cause) => reject(badUpload('the form is broken', cause)));
    request.on('close', () => {
      if (!request.readableEnded) form.destroy(new Error('upload aborted'));
    });
    request.pipe(form);
  });
  if (result === undefined) throw badUpload('there is no field attachment');
  return result;
}

/** Returns the file name without folders and control characters. @throws Problem (400) */
function toFileName(name: string): string {
  const baseName = (name.split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{Cc}/gu, '').slice(0, 255);
  if (baseName === '' || baseName === '.' || baseName === '..') throw badUpload('a file needs a name');
  return baseName;
}

function badUpload(why: string, cause?: unknown): Problem {
  return new Problem('git.bad_upload', 400, `No file was uploaded: ${why}.`, { cause });
}
