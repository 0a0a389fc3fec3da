import type { IncomingMessage } from 'node:http';
import { describeJsonError } from '../domain/go-json-error.ts';
import type { Metadata } from '../domain/metadata.ts';
import { AuthError } from './auth-error.ts';
import { exceedsDepth } from '../../../kit/json-depth.ts';
import { readRequestBody } from '../../../kit/http/body.ts';
import { parseJsonOrThrow } from '../../../contracts/parse-json.ts';
import { isRecord } from '../../../contracts/is-record.ts';

const maxDepth = 1000;
/** Maximum size of a body. */
const maxBytes = 1024 * 1024;

/**
 * Reads a request body.
 *
 * @throws AuthError 413 for a body that is too large
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const detail = `Request body too large (max ${maxBytes} bytes)`;
  return (
    await readRequestBody(request, maxBytes, () => new AuthError(413, 'request_entity_too_large', detail))
  ).toString();
}

const createJsonError = (reason: string): AuthError =>
  new AuthError(400, 'bad_json', `Could not parse request body as JSON: ${reason}`);

/** Escapes of NUL and lone surrogates in JSON, which PostgreSQL cannot store. */
const unstorableEscapes = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Fields of a body. A missing field or null is empty, and a field of another type is refused, as by Supabase Auth. */
export class Body {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(text: string) {
    const value = parseJsonOrThrow(text, () => createJsonError(describeJsonError(text)));
    if (value !== null && !isRecord(value)) throw createJsonError(describeMismatch(value, 'body', 'object'));
    if (exceedsDepth(value, maxDepth)) throw createJsonError('exceeded max depth');
    this.#fields = value ?? {};
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? null) !== null;
  }

  text(name: string): string {
    const value = this.#of(name, 'string') ?? '';
    // PostgreSQL cannot store NUL in texts.
    if ((value as string).includes('\0')) throw createJsonError(`the character NUL in ${name}`);
    return value as string;
  }

  flag(name: string, defaultValue: boolean): boolean {
    return (this.#of(name, 'boolean') ?? defaultValue) as boolean;
  }

  object(name: string): Metadata | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || Array.isArray(value))
      throw createJsonError(describeMismatch(value, name, 'object'));
    if (unstorableEscapes.test(JSON.stringify(value)))
      throw createJsonError(`a letter in ${name} that no text can have`);
    return value as Metadata;
  }

  #of(name: string, type: 'string' | 'boolean'): unknown {
    const value = this.#fields[name] ?? undefined;
    if (value !== undefined && typeof value !== type) throw createJsonError(describeMismatch(value, name, type));
    return value;
  }
}

function describeMismatch(value: unknown, name: string, type: string): string {
  const actualType = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${actualType} into field ${name} of type ${type}`;
}
