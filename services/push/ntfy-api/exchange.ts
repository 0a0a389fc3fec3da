import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Credentials, Identity } from '../../contracts/control/accounts.ts';
import type { Problem } from '../../contracts/problem.ts';
import type { Caller } from '../../contracts/service.ts';
import { sendReply, addHeaders } from '../../kit/http/respond.ts';
import type { Parameters } from '../domain/parameters.ts';
import { formatErrorBody } from '../wire/errors.ts';
import { decodeHeader, isTransportPriority } from '../wire/headers.ts';

/** Authenticated request. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams | undefined;
  readonly read: Parameters;
  readonly identity: Identity | undefined;
  /** Address of the client; behind a proxy, the forwarded one. */
  readonly address: string;
  /** True when a browser sends the request from a page of another site. */
  readonly foreignSite: boolean;
}

/** Request and response. */
export interface Exchange extends RequestContext {
  readonly response: ServerResponse;
}

/**
 * Web pages of any origin may read responses, because clients authenticate with a header or `auth`, never with a
 * cookie.
 */
export const crossOrigin = { 'Access-Control-Allow-Origin': '*' } as const;

/**
 * Reads parameters from headers, under all names, then from the query. Entries of `overlay` override the header of the
 * same name.
 */
export function createParameters(
  request: IncomingMessage,
  query: URLSearchParams | undefined,
  overlay?: ReadonlyMap<string, string>,
): Parameters {
  return (...names) => {
    for (const name of names) {
      const value = overlay?.get(name)?.trim() || readHeader(request, name);
      if (value !== '') return value;
    }
    if (query === undefined) return '';
    for (const name of names) {
      const value = query.get(name)?.replaceAll('\0', '').trim();
      if (value) return value;
    }
    return '';
  };
}

function readHeader(request: IncomingMessage, name: string): string {
  const joined = request.headers[name];
  if (typeof joined !== 'string' || joined === '') return '';
  // Node joins repeated headers; ntfy uses the first.
  const value = joined.includes(', ') ? (request.headersDistinct[name]?.[0] ?? joined) : joined;
  if (name === 'priority' && isTransportPriority(value)) return '';
  return decodeHeader(value);
}

/**
 * Returns the client address. Uses the last X-Forwarded-For entry, which the proxy appended and the client cannot
 * forge.
 */
export function getClientAddress(request: IncomingMessage, behindProxy: boolean): string {
  const forwarded = behindProxy ? request.headers['x-forwarded-for'] : undefined;
  const last = typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined;
  return last !== undefined && isIP(last) !== 0 ? last : (request.socket.remoteAddress ?? '');
}

/**
 * Returns the credentials: `?auth=` carries an encoded Authorization header for clients that cannot set one, and takes
 * precedence.
 */
export function getCredentials(
  request: IncomingMessage,
  query: URLSearchParams | undefined,
  caller: Caller,
): Credentials {
  const encoded = query?.get('authorization') || query?.get('auth');
  const authorization = encoded
    ? Buffer.from(encoded, 'base64url').toString('utf8').trim()
    : request.headers.authorization;
  return { authorization: authorization || undefined, ...caller };
}

/** Sends JSON text. */
export function answer(
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  type = 'application/json',
): void {
  sendReply(response, { status, headers: { ...crossOrigin, 'Content-Type': type }, body: text });
}

/** Sends a value as one line of JSON. */
export function answerValue(response: ServerResponse, value: unknown): void {
  answer(response, 200, `${JSON.stringify(value)}\n`);
}

/** Sends an error in ntfy's format; ends a response that has already started. */
export function answerProblem(response: ServerResponse, problem: Problem): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const retry = problem.headers['Retry-After'];
  if (retry !== undefined) addHeaders(response, { 'Retry-After': retry });
  answer(response, problem.status, formatErrorBody(problem));
}
