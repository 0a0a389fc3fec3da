import type { IncomingMessage } from 'node:http';
import type { Settings } from '../settings.ts';
import { RestError } from './errors.ts';
import { parseAccept, type MediaType } from './parse/accept.ts';
import { appliedHeader, parsePreferences, type Preferences } from './parse/preferences.ts';
import type { RequestIdentity } from './identity.ts';
import type { Range } from './statement/read.ts';
import type { Scope } from './parse/query.ts';
import type { Result, Transaction } from './transaction.ts';
import type { Answer } from './response.ts';
import { quote } from './statement/sql.ts';

/** What is known of a request before its table or function is looked at. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly schema: string;
  readonly identity: RequestIdentity;
  readonly preferences: Preferences;
  readonly media: MediaType;
  readonly request: Pick<IncomingMessage, 'headers'>;
  readonly settings: Settings;
}

export function openCall(
  request: Pick<IncomingMessage, 'headers' | 'method'>,
  path: string,
  query: string,
  identity: RequestIdentity,
  settings: Settings,
): Call {
  const method = request.method ?? 'GET';
  const { headers } = request;
  return {
    ...{ method, path, query, identity, request, settings },
    schema: schemaOf(method, headers, settings.schemas),
    preferences: parsePreferences(textOf(headers['prefer'])),
    media: parseAccept(headers.accept, settings.plans, path === '/'),
  };
}

/** @throws RestError PGRST106 */
function schemaOf(method: string, headers: IncomingMessage['headers'], schemas: readonly string[]): string {
  const isRead = method === 'GET' || method === 'HEAD';
  const asked = textOf(headers[isRead ? 'accept-profile' : 'content-profile']);
  if (asked === undefined || asked === '') return schemas[0] ?? 'public';
  if (schemas.includes(asked)) return asked;
  throw new RestError(406, 'PGRST106', `Invalid schema: ${asked}`, {
    hint: `Only the following schemas are exposed: ${schemas.join(', ')}`,
  });
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(',') : header;
}

/** The function of the settings that is called before each request, quoted; undefined: none. */
export function beforeOf({ settings: { preRequest } }: Pick<Call, 'settings'>): string | undefined {
  if (preRequest === '') return undefined;
  const at = preRequest.indexOf('.');
  return at < 0 ? quote(preRequest) : `${quote(preRequest.slice(0, at))}.${quote(preRequest.slice(at + 1))}`;
}

/** What functions and policies may read of a request, and how its transaction behaves. */
export function settingsOf({ request, path, method, schema, preferences, settings }: Call): Transaction['settings'] {
  // Whoever reads these gets no key of somebody else by them.
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hidden.has(name)));
  return {
    'request.method': method,
    'request.path': path,
    'request.headers': JSON.stringify(headers),
    'request.cookies': JSON.stringify(cookiesOf(request.headers.cookie)),
    search_path: [schema, ...settings.extraSearchPath].map(quote).join(', '),
    ...Object.fromEntries(settings.appSettings.map((line) => splitAt(line, '='))),
    ...(preferences.timezone === undefined ? {} : { timezone: preferences.timezone }),
  };
}

const hidden = new Set(['cookie']);

/** Cookies as functions may read them. The browser's session with Homeport itself, on another port, is not for them. */
function cookiesOf(header: string | undefined): Readonly<Record<string, string>> {
  const pairs = (header ?? '').split(';').map((text) => splitAt(text, '='));
  return Object.fromEntries(pairs.filter(([name]) => name !== '' && !name.startsWith('__Host-homeport-')));
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + mark.length).trim()];
}

/**
 * The requested rows: those of the query string that are in the `Range` of a GET too, and never more than the settings
 * allow.
 */
export function rangeOf({ request, method, settings }: Call, scope: Scope | undefined): Range {
  const most = settings.maxRows === 0 ? Infinity : settings.maxRows;
  let { limit = Infinity, offset } = scope ?? { limit: undefined, offset: undefined };
  const range = /^(?:items=)?(\d{1,15})-(\d{0,15})$/.exec(textOf(request.headers.range) ?? '');
  if (range !== null && method === 'GET') {
    const first = Math.max(Number(range[1]), offset ?? 0);
    const end = Math.min(range[2] === '' ? Infinity : Number(range[2]) + 1, (offset ?? 0) + limit);
    if (end <= first && limit !== 0) {
      throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
        details: 'The lower boundary must be lower than or equal to the upper boundary in the Range header.',
      });
    }
    offset = first;
    limit = Math.max(0, end - first);
  }
  limit = Math.min(limit, most);
  return { offset, limit: limit === Infinity ? undefined : limit };
}

/** Headers of an answer with rows: which of how many they are, and which preferences were honoured. */
export function rowHeaders(
  { media, schema, settings }: Call,
  { offset, page, total }: { readonly offset: number; readonly page: number; readonly total: string | null },
  applied: Preferences,
): Record<string, string> {
  const range = page === 0 ? '*' : `${offset}-${offset + page - 1}`;
  return {
    'Content-Type': contentType(media),
    'Content-Range': `${range}/${total ?? '*'}`,
    ...commonHeaders(settings, schema, applied),
  };
}

export function commonHeaders(settings: Settings, schema: string, applied: Preferences): Record<string, string> {
  const preferences = appliedHeader(applied);
  return {
    ...(settings.schemas.length > 1 ? { 'Content-Profile': schema } : {}),
    ...(preferences === undefined ? {} : { 'Preference-Applied': preferences }),
  };
}

function contentType({ kind, nullsStripped }: MediaType): string {
  const stripped = nullsStripped ? ';nulls=stripped' : '';
  if (kind === 'csv') return 'text/csv; charset=utf-8';
  if (kind === 'object') return `application/vnd.pgrst.object+json${stripped}; charset=utf-8`;
  if (kind === 'array') return `application/vnd.pgrst.array+json${stripped}; charset=utf-8`;
  return 'application/json; charset=utf-8';
}

/** @throws RestError PGRST116 */
export function wantOne({ media }: Call, { page }: Result): void {
  if (media.kind !== 'object' || page === '1') return;
  throw new RestError(406, 'PGRST116', 'Cannot coerce the result to a single JSON object', {
    details: `The result contains ${page} rows`,
  });
}

/** @throws RestError PGRST124 */
export function wantFew(most: number, { page }: Result): void {
  if (Number(page) <= most) return;
  throw new RestError(400, 'PGRST124', 'Query result exceeds max-affected preference constraint', {
    details: `The query affects ${page} rows`,
  });
}

/** A function or a trigger may have said what is answered. @throws RestError PGRST111, PGRST112 */
export function withSettings(answer: Answer, { headers, status }: Result): Answer {
  const all = headers === null ? answer.headers : merged(answer.headers, parseHeaders(headers));
  if (status === null) return { ...answer, headers: all };
  const number = Number(status);
  if (!Number.isInteger(number) || number < 200 || number > 599) {
    throw new RestError(500, 'PGRST112', 'response.status guc must be a valid status code');
  }
  return { ...answer, headers: all, status: number };
}

/** What a function says takes the place of our own header of that name, whatever its case. */
function merged(ours: Answer['headers'], said: Answer['headers']): Answer['headers'] {
  const names = new Set(Object.keys(said).map((name) => name.toLowerCase()));
  return { ...Object.fromEntries(Object.entries(ours).filter(([name]) => !names.has(name.toLowerCase()))), ...said };
}

/** A header may be said several times, such as `Set-Cookie`. */
function parseHeaders(text: string): Record<string, string | readonly string[]> {
  const fail = (): never => {
    throw new RestError(500, 'PGRST111', headersComplaint);
  };
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (!Array.isArray(list)) return fail();
  const all = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const each of list as unknown[]) {
    const [pair, more] = typeof each === 'object' && each !== null ? Object.entries(each) : [];
    if (pair === undefined || more !== undefined || typeof pair[1] !== 'string') return fail();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(pair[0]) || /[\r\n\0]/.test(pair[1])) return fail();
    const known = all.get(pair[0].toLowerCase());
    if (known === undefined) all.set(pair[0].toLowerCase(), { name: pair[0], values: [pair[1]] });
    else known.values.push(pair[1]);
  }
  return Object.fromEntries(
    [...all].map(([key, { name, values }]) => [name, key === 'set-cookie' ? values : values.join(', ')]),
  );
}

const headersComplaint =
  'response.headers guc must be a JSON array composed of objects with a single key and a string value';
