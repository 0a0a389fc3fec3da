import type { Place } from '../domain/queue-position.ts';
import { bad } from './add.ts';

/**
 * Where a request wants rows to go; without a word about it, to the top. @throws Problem 400 when it says it twice, or
 * in no way we know.
 */
export function readPlace(body: Readonly<Record<string, unknown>>): Place {
  const { before, after, position } = body;
  const given = [before, after, position].filter((each) => each !== undefined && each !== null);
  if (given.length > 1) throw bad(`Give only one of 'before', 'after' and 'position'`);
  if (typeof before === 'string' && before !== '') return { before };
  if (typeof after === 'string' && after !== '') return { after };
  if (position === 'top' || position === 'bottom') return { position };
  if (typeof position === 'number' && Number.isSafeInteger(position) && position >= 0) return { position };
  if (given.length === 0) return { position: 'top' };
  throw bad(`'before' and 'after' name a download; 'position' is 'top', 'bottom' or a number from 0`);
}
