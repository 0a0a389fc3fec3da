import type { IncomingMessage } from 'node:http';
import type { Settings } from '../settings.ts';
import { RestError } from './errors.ts';
import { parseAccept, type MediaType } from './parse/accept.ts';
import { appliedHeader, parsePreferences, type Preferences } from './parse/preferences.ts';
import type { RequestIdentity } from './identity.ts';
import type { Range } from './statement/read.ts';
import type { Scope } from './parse/query.ts';
import type { Result, Transaction } from './transaction.ts';
import type { Answer } from './answer.ts';

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
    media: parseAccept(headers.accept, settings.plans),
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

/** What functions and policies may read of a request, and how its transaction behaves. */
export function settingsOf({ request, path, method, schema, preferences }: Call): Transaction['settings'] {
  // Whoever reads these gets no key of somebody else by them.
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hidden.has(name)));
  return {
    'request.method': method,
    'request.path': path,
    'request.headers': JSON.stringify(headers),
    'request.cookies': '{}',
    search_path: `"${schema.replaceAll('"', '""')}", "public"`,
    ...(preferences.timezone === undefined ? {} : { timezone: preferences.timezone }),
  };
}

const hidden = new Set(['cookie']);

/** The rows that are asked for: by the query string, else by `Range`, and never more than the settings allow. */
export function rangeOf({ request, method, settings }: Call, scope: Scope | undefined): Range {
  let { limit, offset } = scope ?? { limit: undefined, offset: undefined };
  const range = /^(?:items=)?(\d{1,15})-(\d{0,15})$/.exec(textOf(request.headers.range) ?? '');
  if (range !== null && (method === 'GET' || method === 'HEAD') && limit === undefined && offset === undefined) {
    offset = Number(range[1]);
    if (range[2] !== '') limit = Number(range[2]) - offset + 1;
    if (limit !== undefined && limit < 0) {
      throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
        details: 'The lower boundary must be lower than or equal to the upper boundary in the Range header.',
      });
    }
  }
  const most = settings.maxRows;
  return { offset, limit: most === 0 ? limit : Math.min(limit ?? most, most) };
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
  const stripped = nullsStripped ? '; nulls=stripped' : '';
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
  let all = answer.headers;
  if (headers !== null) {
    const list = parseHeaders(headers);
    all = { ...all, ...list };
  }
  if (status === null) return { ...answer, headers: all };
  const number = Number(status);
  if (!Number.isInteger(number) || number < 200 || number > 599) {
    throw new RestError(500, 'PGRST112', 'response.status guc must be a valid status code');
  }
  return { ...answer, headers: all, status: number };
}

function parseHeaders(text: string): Record<string, string> {
  const fail = (): never => {
    throw new RestError(500, 'PGRST111', 'response.headers guc must be a JSON array composed of objects with a single key and a string value'); // prettier-ignore
  };
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (!Array.isArray(list)) return fail();
  const all: Record<string, string> = {};
  for (const each of list as unknown[]) {
    const [pair, more] = typeof each === 'object' && each !== null ? Object.entries(each) : [];
    if (pair === undefined || more !== undefined || typeof pair[1] !== 'string') return fail();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(pair[0]) || /[\r\n\0]/.test(pair[1])) return fail();
    all[pair[0]] = pair[1];
  }
  return all;
}
