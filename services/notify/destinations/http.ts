import type { DestinationUrl } from './url.ts';

/** One request to a destination, as data. Names of headers are lower case. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The address came out of an answer: private addresses are refused, as the owner did not type it. */
  readonly untrusted?: true;
}

type Headers = Readonly<Record<string, string>>;
/** Values of a query or a form, in order; undefined ones are left out. */
export type Pairs = Readonly<Record<string, string | number | undefined>>;

/** What destinations see as the sender. */
export const userAgent = 'Homeport';

/** Basic credentials of a URL (RFC 7617, in UTF-8); undefined without a user. */
export function basicAuthorization(url: Pick<DestinationUrl, 'user' | 'password'>): string | undefined {
  if (url.user === undefined) return undefined;
  return `Basic ${Buffer.from(`${url.user}:${url.password ?? ''}`, 'utf8').toString('base64')}`;
}

/** Headers that belong to the connection, not to whoever writes the URL. */
const reserved = /^(connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** False for a header no request can carry (RFC 9110, 5.6.2 and 5.5): the text came percent-encoded, so anything may be in it. */
export function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) && !reserved.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** What headers tell of credentials, also in the form they have there, so that an answer that repeats it can be masked. */
export function secretsInHeaders(headers: Headers): readonly string[] {
  const credentialHeaders = Object.entries(headers).filter(([name]) =>
    /auth|token|key|secret|cookie|password/i.test(name),
  );
  return credentialHeaders.flatMap(([, value]) => [value, ...value.split(/[\s,]+/)]).filter((each) => each.length > 5);
}

/** `application/x-www-form-urlencoded`. */
export function formBody(pairs: Pairs): string {
  const definedPairs = Object.entries(pairs).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return new URLSearchParams(definedPairs).toString();
}

/** A URL with a query; without one where nothing is to be said. */
export function withQuery(url: string, pairs: Pairs): string {
  const query = formBody(pairs);
  return query === '' ? url : `${url}?${query}`;
}

/** A POST with a JSON body. */
export function postJson(url: string, value: unknown, headers: Headers = {}): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

/** A POST with a urlencoded body. */
export function postForm(url: string, pairs: Pairs, headers: Headers = {}): HttpRequest {
  const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
  return { method: 'POST', url, headers: form, body: formBody(pairs) };
}

/** A file in a form. */
export interface FilePart {
  readonly field: string;
  readonly name: string;
  /** Undefined: not said. */
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
}

/** A POST with a form in parts (RFC 7578), fields before files. */
export function postParts(
  url: string,
  pairs: Pairs,
  files: readonly FilePart[],
  boundary: string,
  headers: Headers = {},
): HttpRequest {
  const quoted = (text: string): string => text.replaceAll('"', '%22').replace(/[\r\n]+/g, ' ');
  const chunks: Uint8Array[] = [];
  const write = (text: string): void => void chunks.push(Buffer.from(text, 'utf8'));
  for (const [name, value] of Object.entries(pairs)) {
    if (value === undefined) continue;
    write(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${String(value)}\r\n`);
  }
  for (const { field, name, type, bytes } of files) {
    const typed = type === undefined || !isHeader('content-type', type) ? '' : `Content-Type: ${type}\r\n`;
    const disposition = `form-data; name="${quoted(field)}"; filename="${quoted(name)}"`;
    write(`--${boundary}\r\nContent-Disposition: ${disposition}\r\n${typed}\r\n`);
    chunks.push(bytes);
    write('\r\n');
  }
  write(`--${boundary}--\r\n`);
  const parts = { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers };
  return { method: 'POST', url, headers: parts, body: Buffer.concat(chunks) };
}
