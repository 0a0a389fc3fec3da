import { z } from 'zod';
import { refuse } from '../domain/refusals.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';

/** More than any call of the account API needs. Bytes. */
const longest = 32 * 1024;

/**
 * Reads a JSON body; an empty one counts as `{}`, since clients leave it out where every field may be left out.
 *
 * @throws Problem 40024 for what is not JSON or does not fit, 41303 for too much.
 */
export async function readJson<T>({ request }: Pick<Exchange, 'request'>, schema: z.core.$ZodType<T>): Promise<T> {
  const body = await readBody(request, longest);
  if (body.long) throw refuse('json_too_large');
  const parsed = z.safeParse(schema, parse(body.text));
  if (!parsed.success) throw refuse('json_invalid', undefined, { cause: parsed.error });
  return parsed.data;
}

function parse(text: string | undefined): unknown {
  if (text === undefined) throw refuse('json_invalid');
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refuse('json_invalid', undefined, { cause });
  }
}
