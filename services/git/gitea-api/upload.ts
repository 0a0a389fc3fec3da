import busboy from 'busboy';
import type { Readable } from 'node:stream';
import { Problem } from '../../contracts/problem.ts';
import type { Call } from './call.ts';

/** Hands the file of a request on as it comes: the field `attachment` of a form, or the body itself. @throws Problem (400) */
export async function uploadOf<Taken>(
  { query, request }: Pick<Call, 'query' | 'request'>,
  take: (name: string, bytes: Readable) => Promise<Taken>,
): Promise<Taken> {
  const given = query.get('name') ?? '';
  if (!(request.headers['content-type'] ?? '').toLowerCase().startsWith('multipart/form-data')) {
    if (given === '') throw missing('a file needs a name');
    return take(nameOf(given), request);
  }
  let taken: Promise<Taken> | undefined;
  await new Promise<void>((resolve, reject) => {
    const form = busboy({ headers: request.headers, limits: { files: 1 }, preservePath: false });
    form.on('file', (field, file, { filename }) => {
      // Whoever reads it hears of it too; but a form may break before anybody does.
      file.on('error', () => undefined);
      if (field !== 'attachment') return void file.resume();
      taken = take(nameOf(given === '' ? (filename ?? '') : given), file);
      // A file that nobody reads to its end keeps the form from ending: what still comes is of no use.
      taken.catch((cause: unknown) => {
        request.unpipe(form);
        request.resume();
        reject(cause instanceof Error ? cause : missing('it could not be kept', cause));
      });
    });
    form.on('close', resolve).on('error', (cause) => reject(missing('the form is broken', cause)));
    request.on('close', () => {
      if (!request.readableEnded) form.destroy(new Error('the upload was cut off'));
    });
    request.pipe(form);
  });
  if (taken === undefined) throw missing('there is no field attachment');
  return taken;
}

/** Without what could be a path. */
function nameOf(name: string): string {
  const plain = (name.split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{Cc}/gu, '').slice(0, 255);
  if (plain === '' || plain === '.' || plain === '..') throw missing('a file needs a name');
  return plain;
}

function missing(why: string, cause?: unknown): Problem {
  return new Problem('git.bad_upload', 400, `No file was uploaded: ${why}.`, { cause });
}
