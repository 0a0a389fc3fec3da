import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import { getPublicDetail } from '../http/public-detail.ts';
import { RestError } from './errors.ts';
import type { Role } from './identity.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** Response of the row API. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined for a response without a body and Content-Type. */
  readonly body: string | undefined;
}

/** Converts an error to the format of PostgREST; returns undefined for unexpected errors. */
export function toErrorResponse(error: unknown, role: Role | undefined): RestResponse | undefined {
  const restError = asRestError(error, role);
  if (restError === undefined) return undefined;
  const { status, code, message, details, hint, headers } = restError;
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
  if (error instanceof pg.DatabaseError) return toDatabaseError(error, role);
  if (error instanceof Problem && error.status === 503) {
    return new RestError(503, 'PGRST001', 'Database client error. Retrying the connection.', {
      details: getPublicDetail(error),
      headers: error.headers,
    });
  }
  if (error instanceof Problem) return new RestError(error.status, 'PGRST102', getPublicDetail(error));
  return undefined;
}

function toDatabaseError(
  { code = 'XX000', message, detail, hint }: pg.DatabaseError,
  role: Role | undefined,
): RestError {
  if (code === 'PGRST') return parseRaisedError(message, detail);
  const status = code.startsWith('PT') ? Number(code.slice(2)) : NaN;
  const responseStatus = Number.isInteger(status) && status >= 200 && status <= 599 ? status : getStatus(code, role);
  const headers = responseStatus === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  return new RestError(responseStatus, code, message, { details: detail ?? null, hint: hint ?? null, headers });
}

const messageHint =
  "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.";
const detailHint =
  "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.";

/** Parses the status, headers and body that a function raised as JSON with SQLSTATE PGRST. */
function parseRaisedError(message: string, detail: string | undefined): RestError {
  const { code, message: text, details, hint } = toRecord(parseJson(message));
  if (typeof code !== 'string' || typeof text !== 'string')
    return invalidRaisedError(`Invalid JSON value for MESSAGE: '${message}'`, messageHint);
  if (detail === undefined) return invalidRaisedError('DETAIL is missing in the RAISE statement', detailHint);
  const responseDetail = toRecord(parseJson(detail));
  if (typeof responseDetail['status'] !== 'number')
    return invalidRaisedError(`Invalid JSON value for DETAIL: '${detail}'`, detailHint);
  const headerEntries = Object.entries((responseDetail['headers'] as object | undefined) ?? {});
  return new RestError(responseDetail['status'], code, text, {
    details: details ?? null,
    hint: typeof hint === 'string' ? hint : null,
    headers: Object.fromEntries(headerEntries.map(([name, value]) => [name, String(value)])),
  });
}

function invalidRaisedError(details: string, hint: string): RestError {
  const message = 'Could not parse JSON in the "RAISE SQLSTATE \'PGRST\'" error';
  return new RestError(500, 'PGRST121', message, { details, hint });
}

const statusByCode: Readonly<Record<string, number>> = {
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
const statusByClass: Readonly<Record<string, number>> = {
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

function getStatus(code: string, role: Role | undefined): number {
  // Anonymous callers can sign in, so they get 401; other callers get 403.
  if (code === '42501') return role === undefined || role === 'anon' ? 401 : 403;
  return statusByCode[code] ?? statusByClass[code.slice(0, 2)] ?? 400;
}
