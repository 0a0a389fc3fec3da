import type { ReceivedRequest } from './provider-server.ts';

/** Recorded request. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly body_base64?: string;
}

/** Reduces a request to the parts that matter to the receiver. */
export interface Comparable {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Headers of the connection, without meaning, or different for each request. */
const passedOver = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept',
  'accept-encoding',
  'user-agent',
  'x-apprise-id',
  'x-icon',
]);
const branding = /^https:\/\/github\.com\/caronc\/apprise/;

export function ofGot({ method, url, headers, body }: ReceivedRequest): Comparable {
  return comparable(method, url, headers, body);
}

export function ofRecorded({ method, url, headers, body, body_base64: base64 }: RecordedRequest): Comparable {
  const text = typeof body === 'string' ? body : body === undefined || body === null ? '' : JSON.stringify(body);
  return comparable(
    method,
    url,
    headers ?? {},
    base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64'),
  );
}

function comparable(method: string, url: string, headers: Readonly<Record<string, string>>, body: Buffer): Comparable {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const type = entries.find(([name]) => name === 'content-type')?.[1] ?? '';
  const bodiless = body.length === 0 || ['{}', 'null'].includes(body.toString());
  const relevant = entries
    .filter(([name]) => !passedOver.has(name) && !(name === 'content-type' && bodiless))
    .map(([name, value]) => [name, name === 'content-type' ? (value.split(';')[0] ?? '') : value] as const);
  return {
    method,
    url: readUrl(url),
    headers: Object.fromEntries(relevant),
    body: bodiless ? '' : neutral(readBody(type, body)),
  };
}

/** Normalizes percent-encoding and the order of arguments. */
function readUrl(url: string): string {
  const [path = '', query = ''] = url.split('?');
  const pairs = [...new URLSearchParams(query)]
    .filter(([, value]) => !branding.test(value))
    .map(([name, value]) => `${name}=${value}`)
    .toSorted();
  return [decodeURIComponent(path).replace(/([^:])\/\/+/g, '$1/'), pairs.join('&')]
    .filter((part) => part !== '')
    .join('?');
}

function readBody(type: string, body: Buffer): unknown {
  const text = body.toString('utf8');
  if (type.startsWith('application/json') || /^[[{]/.test(text)) return JSON.parse(text) as unknown;
  if (type.startsWith('application/x-www-form-urlencoded'))
    return [...new URLSearchParams(text)].map(([name, value]): unknown[] => [
      name,
      /^\{.*\}$/s.test(value) ? JSON.parse(value) : value,
    ]);
  const boundary = /boundary=(.+)$/.exec(type)?.[1];
  // Latin 1 preserves each byte of a file.
  if (boundary === undefined) return Buffer.from(text, 'utf8').equals(body) ? text : body.toString('latin1');
  return body.toString('latin1').split(`--${boundary}`).slice(1, -1).map(readPart);
}

function readPart(part: string): unknown {
  const [head = '', ...rest] = part.split('\r\n\r\n');
  const content = rest.join('\r\n\r\n').replace(/\r\n$/, '');
  return { head: head.trim(), content: neutral(/^\{.*\}$/s.test(content) ? JSON.parse(content) : content) };
}

/** Removes the icons of Apprise and replaces its name. */
function neutral(value: unknown): unknown {
  if (typeof value === 'string')
    return (
      value
        .replace(/(0123456789){900}/, '{{long}}')
        // Apprise writes spaces and quotes as entities in HTML.
        .replaceAll('&nbsp;', ' ')
        .replaceAll('&quot;', '"')
        .replaceAll('Apprise Notifications', 'Homeport')
        .replaceAll('Apprise', 'Homeport')
    );
  if (Array.isArray(value)) return value.filter((item) => !isPicture(item)).map(neutral);
  // Timestamps in seconds, which Apprise writes with fractions and the time of the recording.
  if (typeof value === 'number' && value > 1_795_000_000 && value < 1_796_000_000) return 'time';
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, item]) => !(typeof item === 'string' && branding.test(item)));
  return Object.fromEntries(entries.map(([name, item]) => [name, neutral(item)]));
}

function isPicture(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'url' in item && branding.test(String(item.url));
}
