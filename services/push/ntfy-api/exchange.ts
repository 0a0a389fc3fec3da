import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Credentials, Identity } from '../../contracts/control/accounts.ts';
import type { Problem } from '../../contracts/problem.ts';
import type { Caller } from '../../contracts/service.ts';
import type { Parameters } from '../domain/parameters.ts';
import { errorBody } from '../wire/errors.ts';
import { decodeHeader, isTransportPriority } from '../wire/headers.ts';

/** One request, its sender proven. */
export interface Asked {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams | undefined;
  readonly read: Parameters;
  readonly identity: Identity | undefined;
  /** The sender's, behind a proxy the one it tells. */
  readonly address: string;
  /** A page of another site makes a browser send it. */
  readonly foreignSite: boolean;
}

/** One request and its answer. */
export interface Exchange extends Asked {
  readonly response: ServerResponse;
}

/** Every answer may be read by web pages: they prove themselves by a header or `auth`, never by a cookie. */
export const crossOrigin = { 'Access-Control-Allow-Origin': '*' } as const;

/** Headers first, under all names, then the query; what `overlay` holds counts as the header of that name. */
export function parametersOf(
  request: IncomingMessage,
  query: URLSearchParams | undefined,
  overlay?: ReadonlyMap<string, string>,
): Parameters {
  return (...names) => {
    for (const name of names) {
      const value = overlay?.get(name)?.trim() || headerOf(request, name);
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

function headerOf(request: IncomingMessage, name: string): string {
  const joined = request.headers[name];
  if (typeof joined !== 'string' || joined === '') return '';
  // Node joins headers that came twice; the peer takes the first.
  const value = joined.includes(', ') ? (request.headersDistinct[name]?.[0] ?? joined) : joined;
  if (name === 'priority' && isTransportPriority(value)) return '';
  return decodeHeader(value);
}

/** Where a request comes from. A proxy appends the address it saw, so that the last one is not made up by the sender. */
export function addressOf(request: IncomingMessage, behindProxy: boolean): string {
  const forwarded = behindProxy ? request.headers['x-forwarded-for'] : undefined;
  const last = typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined;
  return last !== undefined && isIP(last) !== 0 ? last : (request.socket.remoteAddress ?? '');
}

/** Who sends: `?auth=` holds a whole Authorization header for those who cannot set one, and wins over it. */
export function credentialsOf(
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

/** Answers JSON text as it is. */
export function answer(
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  type = 'application/json',
): void {
  response
    .writeHead(status, {
      ...crossOrigin,
      'Content-Type': type,
      'Content-Length': typeof text === 'string' ? Buffer.byteLength(text) : text.length,
    })
    .end(text);
}

/** Answers a value as one line of JSON. */
export function answerValue(response: ServerResponse, value: unknown): void {
  answer(response, 200, `${JSON.stringify(value)}\n`);
}

/** Answers in the peer's error shape; cuts off an answer that had begun. */
export function answerProblem(response: ServerResponse, problem: Problem): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const retry = problem.headers['Retry-After'];
  if (retry !== undefined) response.setHeader('Retry-After', retry);
  answer(response, problem.status, errorBody(problem));
}
