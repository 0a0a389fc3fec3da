import { Cursor } from './cursor.ts';
import { readField, readName, type Field } from './fields.ts';

export interface Order {
  /** Name of the embed that has the field. */
  readonly relation: string | undefined;
  readonly field: Field;
  readonly direction: 'asc' | 'desc' | undefined;
  readonly nulls: 'first' | 'last' | undefined;
}

/** Parses `order=a.desc.nullslast,author(name)`. */
export function parseOrder(text: string): readonly Order[] {
  const cursor = new Cursor(text, 'order');
  const orders: Order[] = [];
  do {
    cursor.skipSpaces();
    orders.push(readOrder(cursor));
    cursor.skipSpaces();
  } while (cursor.take(','));
  cursor.expectEnd('"," or end of input');
  return orders;
}

function readOrder(cursor: Cursor): Order {
  const start = cursor.index;
  let relation: string | undefined = readName(cursor);
  let field: Field;
  if (cursor.take('(')) {
    field = readField(cursor);
    if (!cursor.take(')')) cursor.fail('")"');
  } else {
    cursor.index = start;
    relation = undefined;
    field = readField(cursor);
  }
  const direction = cursor.match(/\.(?:asc|desc)/y)?.slice(1) as Order['direction'];
  const nulls = cursor.match(/\.nulls(?:first|last)/y)?.slice(6) as Order['nulls'];
  if (!cursor.isAtEnd && !/[,\s]/.test(cursor.text.charAt(cursor.index))) {
    cursor.fail(
      direction === undefined && nulls === undefined
        ? '"asc", "desc", "nullsfirst" or "nullslast"'
        : '"," or end of input',
    );
  }
  return { relation, field, direction, nulls };
}
