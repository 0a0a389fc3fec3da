import type { DestinationUrl } from './url.ts';

/** Request to a destination. Header names are lower case. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The address is from a response, not from the owner, so private addresses are refused. */
  readonly untrusted?: true;
}

type Headers = Readonly<Record<string, string>>;
/** Values of a query or a form, in order; undefined ones are omitted. */
export type Pairs = Readonly<Record<string, string | number | undefined>>;

/** User agent of all requests to destinations. */
export const userAgent = 'Homeport';

/** Returns the Basic credentials of a URL (RFC 7617, in UTF-8), or undefined without a user. */
export function basicAuthorization(url: Pick<DestinationUrl, 'user' | 'password'>): string | undefined {
  if (url.user === undefined) return undefined;
  return `Basic ${Buffer.from(`${url.user}:${url.password ?? ''}`, 'utf8').toString('base64')}`;
}

/** Headers of the connection, which a URL cannot set. */
const reserved = /^(connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Returns false for invalid headers (RFC 9110, 5.6.2 and 5.5). The text is percent-encoded in the URL, so it may
 * contain any character.
 */
export function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) && !reserved.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/**
 * Returns the credentials in headers, also in their encoded form, so that a response that repeats them can be masked.
 */
export function secretsInHeaders(headers: Headers): readonly string[] {
  const credentialHeaders = Object.entries(headers).filter(([name]) =>
    /auth|token|key|secret|cookie|password/i.test(name),
  );
  return credentialHeaders.flatMap(([, value]) => [value, ...value.split(/[\s,]+/)]).filter((each) => each.length > 5);
}

/** Encodes pairs as `application/x-www-form-urlencoded`. */
export function formBody(pairs: Pairs): string {
  const definedPairs = Object.entries(pairs).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return new URLSearchParams(definedPairs).toString();
}

/** Appends a query to a URL, if there is one. */
export function withQuery(url: string, pairs: Pairs): string {
  const query = formBody(pairs);
  return query === '' ? url : `${url}?${query}`;
}

/** Builds a POST request with a JSON body. */
export function postJson(url: string, value: unknown, headers: Headers = {}): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

/** Builds a POST request with a urlencoded body. */
export function postForm(url: string, pairs: Pairs, headers: Headers = {}): HttpRequest {
  const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
  return { method: 'POST', url, headers: form, body: formBody(pairs) };
}

/** File in a multipart form. */
export interface FilePart {
  readonly field: string;
  readonly name: string;
  /** Undefined: no Content-Type is sent. */
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
}

/** Builds a POST request with a multipart form (RFC 7578), fields before files. */
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
  const allHeaders = { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers };
  return { method: 'POST', url, headers: allHeaders, body: Buffer.concat(chunks) };
}
