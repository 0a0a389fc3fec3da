import type { IncomingMessage } from 'node:http';
import busboy from 'busboy';
import { maxCookieFileLength } from '../../contracts/downloads/cookies.ts';
import { createCookieProblem } from '../cookies/netscape.ts';

/**
 * Reads the content and the length in bytes of the file `cookies` of the form (RFC 7578).
 * @throws Problem `downloads.bad_cookies` (400), with MeTube's message where it has one
 */
export async function readUpload(request: IncomingMessage): Promise<{ readonly text: string; readonly bytes: number }> {
  const missingProblem = createCookieProblem('No cookies file provided');
  const upload = Promise.withResolvers<Uint8Array>();
  let form: busboy.Busboy | undefined;
  const reject = (error: Error): void => {
    request.unpipe();
    // Read to its end, so that the client receives the response.
    request.resume();
    upload.reject(error);
  };
  try {
    form = busboy({
      headers: request.headers,
      limits: { fileSize: maxCookieFileLength, files: 5, fields: 20, parts: 25 },
    });
  } catch {
    // Not a form, or a form without a boundary.
    request.resume();
    throw missingProblem;
  }
  form.on('file', (field, stream) => {
    const chunks: Uint8Array[] = [];
    stream.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    stream.on('limit', () => reject(createCookieProblem(`A cookies file has at most ${maxCookieFileLength} bytes`)));
    stream.on('end', () => field === 'cookies' && upload.resolve(Buffer.concat(chunks)));
    stream.on('error', () => reject(missingProblem));
  });
  form.on('error', () => reject(missingProblem));
  form.on('close', () => upload.reject(missingProblem));
  request.once('close', () => !request.complete && upload.reject(missingProblem));
  request.pipe(form);
  const bytes = await upload.promise;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), bytes: bytes.length };
  } catch {
    throw createCookieProblem('The cookies file is not a text in UTF-8.');
  }
}
