import type { IncomingMessage } from 'node:http';
import { CallError } from './call-error.ts';
import { readRequestBody } from '../../kit/request-body.ts';

export type Input = Record<string, unknown>;

const largestBody = 32 * 1024 * 1024;

/** What a request asks with: its address's query, and a form or JSON over it as the peer reads them. */
export async function readInput(request: IncomingMessage, url: URL): Promise<Input> {
  // The last of a repeated key counts.
  const query = Object.fromEntries(url.searchParams);
  const [type = '', ...rest] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim());
  if (type.toLowerCase() === 'application/x-www-form-urlencoded') {
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)));
    return { ...form, ...query };
  }
  if (type.toLowerCase() !== 'application/json') {
    request.resume();
    return query;
  }
  const charset = rest.map((part) => /^charset="?([^"]*)"?$/i.exec(part)?.[1]).find((found) => found !== undefined);
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8') {
    throw new CallError(400, `unsupported charset ${JSON.stringify(charset)} for JSON input`);
  }
  return { ...query, ...readJson(await bodyOf(request)) };
}

/** A JSON object. @throws CallError in the words of the peer. */
function readJson(text: string): Input {
  const body = text.trim();
  const failed = (reason: string): CallError => new CallError(400, `failed to read input JSON: ${reason}`);
  if (body === '') throw failed('EOF');
  const kind = { '[': 'array', '"': 'string', t: 'bool', f: 'bool' }[body.charAt(0)];
  try {
    const read: unknown = JSON.parse(body);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Input;
    if (read === null) return {};
    throw failed(`json: cannot unmarshal ${kind ?? 'number'} into Go value of type rc.Params`);
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw failed(complaint(body));
  }
}

/** The usual mistakes as Go tells of them. */
function complaint(body: string): string {
  const first = /^\{\s*([^"}\s])/.exec(body)?.[1];
  if (first !== undefined) return `invalid character '${first}' looking for beginning of object key string`;
  if (!body.startsWith('{')) return `invalid character '${body.charAt(0)}' looking for beginning of value`;
  return 'unexpected EOF';
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const body = await readRequestBody(request, largestBody, () => new CallError(413, 'the input is too large'));
  return body.toString();
}

/** Whether a value says yes, as a flag may be written. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(1|t|true)$/i.test(value));
}

/** A text that must be there. @throws CallError 400 */
export function textOf(input: Input, key: string): string {
  const value = wanted(input, key);
  if (typeof value === 'string') return value;
  throw new CallError(400, `expecting string value for key ${JSON.stringify(key)} (was ${goType(value)})`);
}

/** A whole number that must be there, also as digits. @throws CallError 400 */
export function numberOf(input: Input, key: string): number {
  const value = wanted(input, key);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  throw new CallError(400, `expecting int64 value for key ${JSON.stringify(key)} (was ${goType(value)})`);
}

function wanted(input: Input, key: string): unknown {
  if (!Object.hasOwn(input, key)) throw new CallError(400, `Didn't find key ${JSON.stringify(key)} in input`);
  return input[key];
}

function goType(value: unknown): string {
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return '[]interface {}';
  if (value === null) return '<nil>';
  return typeof value === 'object' ? 'map[string]interface {}' : typeof value;
}
