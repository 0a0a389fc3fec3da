import type { IncomingMessage } from 'node:http';
import { CallError } from '../access/call-error.ts';
import type { Input } from '../access/input.ts';
import { exceedsDepth } from '../../kit/json-depth.ts';
import { readRequestBody } from '../../kit/http/body.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';
import { isRecord } from '../../contracts/is-record.ts';

const maxBodyBytes = 32 * 1024 * 1024;
/** Maximum nesting of the input, which is serialized again for the history and the engine. */
const maxLevels = 1000;

/** Reads the parameters of a request from query, form and JSON body with rclone's precedence. */
export async function readInput(request: IncomingMessage, parameters: URLSearchParams): Promise<Input> {
  // The last value of a repeated key applies.
  const query = Object.fromEntries(parameters);
  const [type = '', ...rest] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim());
  if (type.toLowerCase() === 'application/x-www-form-urlencoded') {
    const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
    return { ...form, ...query };
  }
  if (type.toLowerCase() !== 'application/json') {
    request.resume();
    return query;
  }
  const charset = rest.map((part) => /^charset="?([^"]*)"?$/i.exec(part)?.[1]).find((value) => value !== undefined);
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8') {
    throw new CallError(400, `unsupported charset ${JSON.stringify(charset)} for JSON input`);
  }
  return { ...query, ...readJson(await readBody(request)) };
}

/** Parses a JSON object. @throws CallError with rclone's message. */
function readJson(text: string): Input {
  const body = text.trim();
  const toError = (reason: string): CallError => new CallError(400, `failed to read input JSON: ${reason}`);
  if (body === '') throw toError('EOF');
  const kind = { '[': 'array', '"': 'string', t: 'bool', f: 'bool' }[body.charAt(0)];
  const parsed = parseJsonOrThrow(body, () => toError(getJsonErrorMessage(body)));
  if (exceedsDepth(parsed, maxLevels)) throw toError('json: exceeded max depth');
  if (isRecord(parsed)) return parsed;
  if (parsed === null) return {};
  throw toError(`json: cannot unmarshal ${kind ?? 'number'} into Go value of type rc.Params`);
}

/** Returns Go's message for common JSON errors. */
function getJsonErrorMessage(body: string): string {
  const first = /^\{\s*([^"}\s])/.exec(body)?.[1];
  if (first !== undefined) return `invalid character '${first}' looking for beginning of object key string`;
  if (!body.startsWith('{')) return `invalid character '${body.charAt(0)}' looking for beginning of value`;
  return 'unexpected EOF';
}

async function readBody(request: IncomingMessage): Promise<string> {
  const body = await readRequestBody(request, maxBodyBytes, () => new CallError(413, 'the input is too large'));
  return body.toString();
}

/** Returns true for the values that rclone accepts as true. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(1|t|true)$/i.test(value));
}

/** Returns a required string. @throws CallError 400 */
export function getString(input: Input, key: string): string {
  const value = getRequired(input, key);
  if (typeof value === 'string') return value;
  throw new CallError(400, `expecting string value for key ${JSON.stringify(key)} (was ${getGoType(value)})`);
}

/** Returns a required integer, which may be a string of digits. @throws CallError 400 */
export function getInteger(input: Input, key: string): number {
  const value = getRequired(input, key);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  throw new CallError(400, `expecting int64 value for key ${JSON.stringify(key)} (was ${getGoType(value)})`);
}

function getRequired(input: Input, key: string): unknown {
  if (!Object.hasOwn(input, key)) throw new CallError(400, `Didn't find key ${JSON.stringify(key)} in input`);
  return input[key];
}

function getGoType(value: unknown): string {
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return '[]interface {}';
  if (value === null) return '<nil>';
  return typeof value === 'object' ? 'map[string]interface {}' : typeof value;
}
