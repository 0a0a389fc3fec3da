import type { QueuePosition } from '../domain/queue-position.ts';
import { bad } from './add.ts';

/**
 * Reads the target position of a request; the top by default.
 * @throws Problem 400 for an invalid position, or more than one
 */
export function readPosition(body: Readonly<Record<string, unknown>>): QueuePosition {
  const { before, after, position } = body;
  const values = [before, after, position].filter((each) => each !== undefined && each !== null);
  if (values.length > 1) throw bad(`Give only one of 'before', 'after' and 'position'`);
  if (typeof before === 'string' && before !== '') return { before };
  if (typeof after === 'string' && after !== '') return { after };
  if (position === 'top' || position === 'bottom') return { position };
  if (typeof position === 'number' && Number.isSafeInteger(position) && position >= 0) return { position };
  if (values.length === 0) return { position: 'top' };
  throw bad(`'before' and 'after' name a download; 'position' is 'top', 'bottom' or a number from 0`);
}
