import type { IncomingMessage } from 'node:http';
import type { Settings } from '../settings.ts';
import { RestError } from './errors.ts';
import { parseAccept, type MediaType } from './parse/accept.ts';
import { buildAppliedHeader, parsePreferences, type Preferences } from './parse/preferences.ts';
import type { RequestIdentity } from './identity.ts';
import type { Range } from './statement/read.ts';
import type { Scope } from './parse/query.ts';
import type { Result, Transaction } from './transaction.ts';
import type { RestResponse } from './response.ts';
import { quote } from './statement/sql.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Request with its parsed headers, before its table or function is resolved. */
export interface RequestContext {
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

export function createRequestContext(
  request: Pick<IncomingMessage, 'headers' | 'method'>,
  path: string,
  query: string,
  identity: RequestIdentity,
  settings: Settings,
): RequestContext {
  const method = request.method ?? 'GET';
  const { headers } = request;
  return {
    method,
    path,
    query,
    identity,
    request,
    settings,
    schema: getSchema(method, headers, settings.schemas),
    preferences: parsePreferences(getHeaderText(headers['prefer'])),
    media: parseAccept(headers.accept, settings.plans, path === '/'),
  };
}

function getSchema(method: string, headers: IncomingMessage['headers'], schemas: readonly string[]): string {
  const isRead = method === 'GET' || method === 'HEAD';
  const schema = getHeaderText(headers[isRead ? 'accept-profile' : 'content-profile']);
  if (schema === undefined || schema === '') return schemas[0] ?? 'public';
  if (schemas.includes(schema)) return schema;
  throw new RestError(406, 'PGRST106', `Invalid schema: ${schema}`, {
    hint: `Only the following schemas are exposed: ${schemas.join(', ')}`,
  });
}

function getHeaderText(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(',') : header;
}

/** Returns the quoted name of the `preRequest` function, or undefined when none is set. */
export function getPreRequest({ settings: { preRequest } }: Pick<RequestContext, 'settings'>): string | undefined {
  if (preRequest === '') return undefined;
  const index = preRequest.indexOf('.');
  return index < 0 ? quote(preRequest) : `${quote(preRequest.slice(0, index))}.${quote(preRequest.slice(index + 1))}`;
}

/** Returns the transaction settings: the request as functions and policies can read it, and the search path. */
export function getTransactionSettings({
  request,
  path,
  method,
  schema,
  preferences,
  settings,
}: RequestContext): Transaction['settings'] {
  // Functions of users must not read the session cookies of other callers.
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hiddenHeaders.has(name)));
  return {
    'request.method': method,
    'request.path': path,
    'request.headers': JSON.stringify(headers),
    'request.cookies': JSON.stringify(parseCookies(request.headers.cookie)),
    search_path: [schema, ...settings.extraSearchPath].map(quote).join(', '),
    ...Object.fromEntries(settings.appSettings.map((line) => splitAt(line, '='))),
    ...(preferences.timezone === undefined ? {} : { timezone: preferences.timezone }),
  };
}

const hiddenHeaders = new Set(['cookie']);

/** Parses the cookies that functions can read. Session cookies of Homeport itself, on another port, are excluded. */
function parseCookies(header: string | undefined): Readonly<Record<string, string>> {
  const pairs = (header ?? '').split(';').map((text) => splitAt(text, '='));
  return Object.fromEntries(pairs.filter(([name]) => name !== '' && !name.startsWith('__Host-homeport-')));
}

function splitAt(text: string, separator: string): readonly [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text.trim(), ''] : [text.slice(0, index).trim(), text.slice(index + separator.length).trim()];
}

/**
 * Returns the requested range: limit and offset of the query string, narrowed by the `Range` header of a GET and the
 * maximum in the settings.
 */
export function getRange({ request, method, settings }: RequestContext, scope: Scope | undefined): Range {
  const maxRows = settings.maxRows === 0 ? Infinity : settings.maxRows;
  let { limit = Infinity, offset } = scope ?? { limit: undefined, offset: undefined };
  const range = /^(?:items=)?(\d{1,15})-(\d{0,15})$/.exec(getHeaderText(request.headers.range) ?? '');
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
  limit = Math.min(limit, maxRows);
  return { offset, limit: limit === Infinity ? undefined : limit };
}

/** Builds the headers of a response with rows: the range, the total and the applied preferences. */
export function buildRowHeaders(
  { media, schema, settings }: RequestContext,
  { offset, page, total }: { readonly offset: number; readonly page: number; readonly total: string | null },
  applied: Preferences,
): Record<string, string> {
  const range = page === 0 ? '*' : `${offset}-${offset + page - 1}`;
  return {
    'Content-Type': getContentType(media),
    'Content-Range': `${range}/${total ?? '*'}`,
    ...buildCommonHeaders(settings, schema, applied),
  };
}

export function buildCommonHeaders(settings: Settings, schema: string, applied: Preferences): Record<string, string> {
  const preferences = buildAppliedHeader(applied);
  return {
    ...(settings.schemas.length > 1 ? { 'Content-Profile': schema } : {}),
    ...(preferences === undefined ? {} : { 'Preference-Applied': preferences }),
  };
}

function getContentType({ kind, nullsStripped }: MediaType): string {
  const stripped = nullsStripped ? ';nulls=stripped' : '';
  if (kind === 'csv') return 'text/csv; charset=utf-8';
  if (kind === 'object') return `application/vnd.pgrst.object+json${stripped}; charset=utf-8`;
  if (kind === 'array') return `application/vnd.pgrst.array+json${stripped}; charset=utf-8`;
  return 'application/json; charset=utf-8';
}

/**
 * Requires exactly one row when the client accepts only a single object.
 *
 * @throws RestError PGRST116
 */
export function requireSingleRow({ media }: RequestContext, { page }: Result): void {
  if (media.kind !== 'object' || page === '1') return;
  throw new RestError(406, 'PGRST116', 'Cannot coerce the result to a single JSON object', {
    details: `The result contains ${page} rows`,
  });
}

/**
 * Enforces the `max-affected` preference.
 *
 * @throws RestError PGRST124
 */
export function requireMaxAffected(maxRows: number, { page }: Result): void {
  if (Number(page) <= maxRows) return;
  throw new RestError(400, 'PGRST124', 'Query result exceeds max-affected preference constraint', {
    details: `The query affects ${page} rows`,
  });
}

/**
 * Applies `response.status` and `response.headers` that a function or trigger has set.
 *
 * @throws RestError PGRST111, PGRST112
 */
export function applyResponseSettings(answer: RestResponse, { headers, status }: Result): RestResponse {
  const all = headers === null ? answer.headers : mergeHeaders(answer.headers, parseHeaders(headers));
  if (status === null) return { ...answer, headers: all };
  const number = Number(status);
  if (!Number.isInteger(number) || number < 200 || number > 599) {
    throw new RestError(500, 'PGRST112', 'response.status guc must be a valid status code');
  }
  return { ...answer, headers: all, status: number };
}

/** Merges headers. Headers set by functions replace existing ones, case-insensitively. */
function mergeHeaders(defaults: RestResponse['headers'], overrides: RestResponse['headers']): RestResponse['headers'] {
  const names = new Set(Object.keys(overrides).map((name) => name.toLowerCase()));
  return {
    ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !names.has(name.toLowerCase()))),
    ...overrides,
  };
}

/** Parses `response.headers`. A header such as `Set-Cookie` may occur several times. */
function parseHeaders(text: string): Record<string, string | readonly string[]> {
  const fail = (): never => {
    throw new RestError(500, 'PGRST111', invalidHeadersMessage);
  };
  const list = parseJson(text);
  if (!Array.isArray(list)) return fail();
  const all = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const each of list as unknown[]) {
    const [pair, more] = typeof each === 'object' && each !== null ? Object.entries(each) : [];
    if (pair === undefined || more !== undefined || typeof pair[1] !== 'string') return fail();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(pair[0]) || /[\r\n\0]/.test(pair[1])) return fail();
    const existing = all.get(pair[0].toLowerCase());
    if (existing === undefined) all.set(pair[0].toLowerCase(), { name: pair[0], values: [pair[1]] });
    else existing.values.push(pair[1]);
  }
  return Object.fromEntries(
    [...all].map(([key, { name, values }]) => [name, key === 'set-cookie' ? values : values.join(', ')]),
  );
}

const invalidHeadersMessage =
  'response.headers guc must be a JSON array composed of objects with a single key and a string value';
