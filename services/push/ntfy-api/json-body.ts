import { z } from 'zod';
import { refuse } from '../domain/refusals.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

/** Maximum size of a body of the account API in bytes. */
const maxBodyBytes = 32 * 1024;

/**
 * Reads a JSON body. An empty body is read as `{}`, because clients omit it when all fields are optional.
 *
 * @throws Problem 40024 for invalid JSON or fields, 41303 for a body that is too large
 */
export async function readJson<T>({ request }: Pick<Exchange, 'request'>, schema: z.core.$ZodType<T>): Promise<T> {
  const body = await readBody(request, maxBodyBytes);
  if (body.isTruncated) throw refuse('json_too_large');
  const parsed = z.safeParse(schema, parse(body.text));
  if (!parsed.success) throw refuse('json_invalid', undefined, { cause: parsed.error });
  return parsed.data;
}

function parse(text: string | undefined): unknown {
  if (text === undefined) throw refuse('json_invalid');
  if (text.trim() === '') return {};
  return parseJsonOrThrow(text, (cause) => refuse('json_invalid', undefined, { cause }));
}
