import type { IncomingMessage } from 'node:http';
import busboy from 'busboy';
import { maxCookieFileLength } from '../../contracts/downloads/cookies.ts';
import { badCookies } from '../cookies/netscape.ts';

/**
 * The content of the form's file `cookies` (RFC 7578), and its length in bytes. @throws Problem `downloads.bad_cookies`
 * (400) in the peer's words where it has any
 */
export async function readUpload(request: IncomingMessage): Promise<{ readonly text: string; readonly bytes: number }> {
  const missing = badCookies('No cookies file provided');
  const found = Promise.withResolvers<Uint8Array>();
  let form: busboy.Busboy | undefined;
  const refuse = (error: Error): void => {
    request.unpipe();
    // Read to its end, so that the client gets the answer.
    request.resume();
    found.reject(error);
  };
  try {
    form = busboy({
      headers: request.headers,
      limits: { fileSize: maxCookieFileLength, files: 5, fields: 20, parts: 25 },
    });
  } catch {
    // No form, or one without a boundary.
    request.resume();
    throw missing;
  }
  form.on('file', (field, stream) => {
    const chunks: Uint8Array[] = [];
    stream.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    stream.on('limit', () => refuse(badCookies(`A cookies file has at most ${maxCookieFileLength} bytes`)));
    stream.on('end', () => field === 'cookies' && found.resolve(Buffer.concat(chunks)));
    stream.on('error', () => refuse(missing));
  });
  form.on('error', () => refuse(missing));
  form.on('close', () => found.reject(missing));
  request.once('close', () => !request.complete && found.reject(missing));
  request.pipe(form);
  const bytes = await found.promise;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), bytes: bytes.length };
  } catch {
    throw badCookies('The cookies file is not a text in UTF-8.');
  }
}
