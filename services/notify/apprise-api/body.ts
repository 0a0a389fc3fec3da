import * as m from '#messages/notify-problems';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { Problem } from '../../contracts/problem.ts';
import type { NewFile } from '../attachments/folder.ts';
import { isJsonType } from '../domain/response-format.ts';
import { declaredCharset, decodeLatin1, decodeText } from '../../kit/charset.ts';
import { parseUrlEncoded } from '../../kit/http/url-encoded.ts';
import { bodyLimit } from '../wire/notify.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { isRecord } from '../../contracts/is-record.ts';

/**
 * Request body, parsed according to its Content-Type. Repeated form fields are lists. `hasRefusedFile`: one of the
 * files was refused.
 */
export type Body =
  | ((
      | { readonly kind: 'json'; readonly fields: Readonly<Record<string, unknown>> }
      | { readonly kind: 'form'; readonly fields: Readonly<Record<string, unknown>>; readonly hasRefusedFile: boolean }
      /** `isJsonType`: the Content-Type was JSON. */
      | { readonly kind: 'text'; readonly text: string; readonly isJsonType?: boolean }
    ) & {
      /** Raw bytes; not available for multipart forms. */
      readonly bytes?: Uint8Array;
    })
  | { readonly kind: 'none' }
  | { readonly kind: 'bad-json' | 'bad-form' | 'too-large' };

/** Maximum nesting depth of a JSON body. */
const maxJsonDepth = 100;

/**
 * Reads the complete body, or returns undefined if it exceeds the limit. Uses events because an async iterator costs
 * more than a small body.
 */
function readAll(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const collectChunk = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= bodyLimit) return void chunks.push(chunk);
      chunks.length = 0;
      // The HTTP listener discards the rest.
      request.off('data', collectChunk).pause();
      resolve(undefined);
    };
    request.on('data', collectChunk);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    const handleDisconnect = (): void => {
      if (!request.readableEnded) reject(new Problem('notify.left', 400, m.callerLeft()));
    };
    request.once('error', handleDisconnect);
    request.once('close', handleDisconnect);
    // A client that disconnected while other requests were processed emits no further event.
    if (request.destroyed) handleDisconnect();
  });
}

/** Parses a JSON object. Returns undefined for anything else, and for an object that is too deep to be serialized. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text);
  return isRecord(value) && !exceedsDepth(value, maxJsonDepth) ? value : undefined;
}

/** Returns true for a value with more than this number of levels. Serializing it could exhaust the stack. */
function exceedsDepth(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => exceedsDepth(each, levels - 1));
}

/**
 * Groups repeated fields into lists. Several `tag` fields are alternatives; the client of Apprise sends them that
 * way.
 */
function groupFields(pairs: Iterable<readonly [string, string]>): Record<string, unknown> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

/**
 * Stores a file of a form; files are numbered from 0. Resolves with false if the file is refused. It must read the
 * stream to its end in any case.
 */
export type TakeFile = (stream: Readable, file: NewFile) => Promise<boolean>;

/** Reads and discards files where none are supported. */
const dropFile: TakeFile = async (stream) => {
  for await (const _chunk of stream);
  return false;
};

/** Parses a multipart form (RFC 7578). Files are streamed; fields are collected up to the body limit. */
function parseMultipart(request: IncomingMessage, takeFile: TakeFile): Promise<Body> {
  return new Promise((resolve, reject) => {
    const pairs: [string, string][] = [];
    const pendingFiles: Promise<boolean>[] = [];
    let length = 0;
    let refused = false;
    let form: busboy.Busboy | undefined;
    const stop = (end: () => void): void => {
      request.unpipe();
      request.resume();
      // Ends a file that is being received, so that no consumer waits for the rest.
      form?.destroy();
      void Promise.allSettled(pendingFiles).then(end);
    };
    const fail = (): void => stop(() => resolve({ kind: 'bad-form' }));
    try {
      form = busboy({
        headers: request.headers,
        // Undeclared text may not be UTF-8, so it is read byte by byte.
        defCharset: 'latin1',
        defParamCharset: 'latin1',
        limits: { fieldSize: bodyLimit, fields: 200, parts: 300, files: 100 },
      });
      form.on('field', (name, value) => {
        length += name.length + value.length;
        if (length <= bodyLimit) pairs.push([decodeLatin1(name), decodeLatin1(value)]);
      });
      form.on('file', (_field, stream, { filename, mimeType }) => {
        const storing = takeFile(stream, {
          name: decodeLatin1(filename ?? ''),
          type: mimeType,
          index: pendingFiles.length,
        });
        storing.then(
          (isStored) => void (refused ||= !isStored),
          (error: unknown) => stop(() => reject(error instanceof Error ? error : new Error(String(error)))),
        );
        pendingFiles.push(storing);
      });
      form.on('filesLimit', () => void (refused = true));
      form.on('error', fail);
      form.on('close', () => {
        void Promise.allSettled(pendingFiles).then(() =>
          resolve(
            length > bodyLimit
              ? { kind: 'bad-form' }
              : { kind: 'form', fields: groupFields(pairs), hasRefusedFile: refused },
          ),
        );
      });
      request.once('close', () => {
        if (!request.complete) fail();
      });
      request.pipe(form);
    } catch (error) {
      // Busboy throws without a valid boundary.
      if (error instanceof Error) fail();
      else throw error;
    }
  });
}

/** Start of a JSON text. Messages can start with brackets too: `[FIRING:1] disk`, `[10:05] done`. */
const jsonStart = /^\s*(?:$|\{|"|\[\s*(?:[{["\]]|-?[\d.]+\s*[,\]]|(?:true|false|null)\b))/;

/** Parses a JSON body. Programs without templates send plain text with the JSON Content-Type. */
function readJsonBody(text: string, bytes: Uint8Array): Body {
  const fields = parseJsonObject(text);
  if (fields !== undefined) return { kind: 'json', fields, bytes };
  return jsonStart.test(text) || parseJson(text) !== undefined
    ? { kind: 'bad-json' }
    : { kind: 'text', text, bytes, isJsonType: true };
}

/** Reads and parses the body of a request. */
export async function readBody(request: IncomingMessage, takeFile: TakeFile = dropFile): Promise<Body> {
  const type = request.headers['content-type'];
  if (type !== undefined && /^multipart\/form-data/i.test(type)) return parseMultipart(request, takeFile);
  const bytes = await readAll(request);
  if (bytes === undefined) return { kind: isJsonType(type) ? 'too-large' : 'bad-form' };
  const charset = declaredCharset(type);
  if (isJsonType(type)) return readJsonBody(decodeText(bytes, charset), bytes);
  if (type === undefined) return { kind: 'none' };
  if (/^application\/x-www-form-urlencoded/i.test(type)) {
    // curl, wget and PowerShell declare a body as a form by default.
    const jsonFields = /^\s*\{/.test(bytes.toString('latin1', 0, 100))
      ? parseJsonObject(decodeText(bytes, charset))
      : undefined;
    if (jsonFields !== undefined) return { kind: 'json', fields: jsonFields, bytes };
    return { kind: 'form', fields: groupFields(parseUrlEncoded(bytes, charset)), hasRefusedFile: false, bytes };
  }
  return /^text\/plain/i.test(type) ? { kind: 'text', text: decodeText(bytes, charset), bytes } : { kind: 'none' };
}
