import type { IncomingMessage } from 'node:http';
import busboy from 'busboy';
import { isJsonType } from '../domain/answer.ts';
import { bodyLimit } from '../wire/notify.ts';

/** A request's body, read as its Content-Type says. Fields of a form that came more than once are lists. */
export type Body =
  | { readonly kind: 'json'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: 'form'; readonly fields: Readonly<Record<string, unknown>>; readonly hasFile: boolean }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'bad-json' | 'bad-form' | 'too-large' };

/** Past the limit this much more is read and dropped, so that the client gets to see the answer. */
const patience = 64 * 1024 * 1024;

/** Levels of a JSON body. */
const deepestJson = 100;

/** The whole body; undefined when it is larger than the limit. */
async function readAll(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= bodyLimit) chunks.push(chunk);
    else chunks.length = 0;
    if (length > bodyLimit + patience) break;
  }
  return length > bodyLimit ? undefined : Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The object a text holds; undefined for anything else, and for one nested so deep that nobody could write it out. */
export function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return isDeeper(value, deepestJson) ? undefined : (value as Readonly<Record<string, unknown>>);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** True for a value nested deeper than that: whoever writes it out again would run out of stack. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/** Repeated fields become lists: several `tag` fields are alternatives, which is how the peer's own client sends them. */
function collect(pairs: Iterable<readonly [string, string]>): Record<string, unknown> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

/** A form in parts. Files are read and dropped: none is kept, but it must be known that there was one. */
function parseMultipart(request: IncomingMessage, bytes: Buffer): Promise<Body> {
  return new Promise((resolve) => {
    const pairs: [string, string][] = [];
    let hasFile = false;
    const fail = (): void => resolve({ kind: 'bad-form' });
    try {
      const form = busboy({
        headers: request.headers,
        defParamCharset: 'utf8',
        limits: { fieldSize: bodyLimit, fields: 200, parts: 300, fileSize: bodyLimit },
      });
      form.on('field', (name, value) => void pairs.push([name, value]));
      form.on('file', (_name, stream) => {
        hasFile = true;
        stream.resume();
      });
      form.on('error', fail);
      form.on('close', () => resolve({ kind: 'form', fields: collect(pairs), hasFile }));
      form.end(bytes);
    } catch (error) {
      // Without a usable boundary busboy refuses to begin.
      if (error instanceof Error) fail();
      else throw error;
    }
  });
}

/** Reads a request's body to its end. */
export async function readBody(request: IncomingMessage): Promise<Body> {
  const type = request.headers['content-type'];
  const bytes = await readAll(request);
  if (bytes === undefined) return { kind: isJsonType(type) ? 'too-large' : 'bad-form' };
  if (isJsonType(type)) {
    const fields = parseJson(decode(bytes) ?? '');
    return fields === undefined ? { kind: 'bad-json' } : { kind: 'json', fields };
  }
  if (type === undefined) return { kind: 'none' };
  if (/^multipart\/form-data/i.test(type)) return parseMultipart(request, bytes);
  const text = decode(bytes);
  if (text === undefined) return { kind: 'bad-form' };
  if (/^application\/x-www-form-urlencoded/i.test(type)) {
    return { kind: 'form', fields: collect(new URLSearchParams(text)), hasFile: false };
  }
  return /^text\/plain/i.test(type) ? { kind: 'text', text } : { kind: 'none' };
}
