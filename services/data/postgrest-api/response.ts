import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import { publicDetail } from '../http/public-detail.ts';
import { RestError } from './errors.ts';
import type { Role } from './identity.ts';

/** What is sent back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined: none, and no Content-Type. */
  readonly body: string | undefined;
}

export function send(response: ServerResponse, isHead: boolean, { status, headers, body }: Answer): void {
  for (const [name, value] of Object.entries(headers))
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  if (body === undefined) {
    if (status !== 204) response.setHeader('Content-Length', 0);
    response.writeHead(status).end();
    return;
  }
  if (!isHead) response.setHeader('Content-Length', Buffer.byteLength(body));
  response.writeHead(status).end(isHead ? undefined : body);
}

/** An error in the shape that clients of PostgREST read; undefined for a defect of ours. */
export function errorAnswer(error: unknown, role: Role | undefined): Answer | undefined {
  const known = asRestError(error, role);
  if (known === undefined) return undefined;
  const { status, code, message, details, hint, headers } = known;
  return {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Proxy-Status': `PostgREST; error=${code}`,
      ...headers,
    },
    body: JSON.stringify({ code, details, hint, message }),
  };
}

function asRestError(error: unknown, role: Role | undefined): RestError | undefined {
  if (error instanceof RestError) return error;
  if (error instanceof pg.DatabaseError) return databaseError(error, role);
  if (error instanceof Problem && error.status === 503) {
    return new RestError(503, 'PGRST001', 'Database client error. Retrying the connection.', {
      details: publicDetail(error),
      headers: error.headers,
    });
  }
  if (error instanceof Problem) return new RestError(error.status, 'PGRST102', publicDetail(error));
  return undefined;
}

function databaseError({ code = 'XX000', message, detail, hint }: pg.DatabaseError, role: Role | undefined): RestError {
  if (code === 'PGRST') return raised(message, detail);
  const status = code.startsWith('PT') ? Number(code.slice(2)) : NaN;
  const known = Number.isInteger(status) && status >= 200 && status <= 599 ? status : statusOf(code, role);
  const headers = known === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  return new RestError(known, code, message, { details: detail ?? null, hint: hint ?? null, headers });
}

const messageHint =
  "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.";
const detailHint =
  "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.";

/** A function says status, headers and body of its error in JSON. */
function raised(message: string, detail: string | undefined): RestError {
  const { code, message: text, details, hint } = parsedObject(message);
  if (typeof code !== 'string' || typeof text !== 'string')
    return unreadable(`Invalid JSON value for MESSAGE: '${message}'`, messageHint);
  if (detail === undefined) return unreadable('DETAIL is missing in the RAISE statement', detailHint);
  const more = parsedObject(detail);
  if (typeof more['status'] !== 'number') return unreadable(`Invalid JSON value for DETAIL: '${detail}'`, detailHint);
  const said = Object.entries((more['headers'] as object | undefined) ?? {});
  return new RestError(more['status'], code, text, {
    details: details ?? null,
    hint: typeof hint === 'string' ? hint : null,
    headers: Object.fromEntries(said.map(([name, value]) => [name, String(value)])),
  });
}

function unreadable(details: string, hint: string): RestError {
  const message = 'Could not parse JSON in the "RAISE SQLSTATE \'PGRST\'" error';
  return new RestError(500, 'PGRST121', message, { details, hint });
}

/** Empty where the text is no JSON object. */
function parsedObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const exact: Readonly<Record<string, number>> = {
  '21000': 500,
  '23503': 409,
  '23505': 409,
  '25006': 405,
  '42883': 404,
  '42P01': 404,
  '42P17': 500,
  '53400': 500,
  '57P01': 503,
  '57P02': 503,
  '57P03': 503,
  P0001: 400,
};
const classes: Readonly<Record<string, number>> = {
  '08': 503,
  '09': 500,
  '0L': 403,
  '0P': 403,
  '25': 500,
  '28': 403,
  '2D': 500,
  '38': 500,
  '39': 500,
  '3B': 500,
  '40': 500,
  '53': 503,
  '54': 500,
  '55': 500,
  '57': 500,
  '58': 500,
  F0: 500,
  HV: 500,
  P0: 500,
  PT: 500,
  XX: 500,
};

function statusOf(code: string, role: Role | undefined): number {
  // Who is nobody yet may sign in; who is somebody may not.
  if (code === '42501') return role === undefined || role === 'anon' ? 401 : 403;
  return exact[code] ?? classes[code.slice(0, 2)] ?? 400;
}
