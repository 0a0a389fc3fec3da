import { Cursor } from './cursor.ts';
import { readField, readName, type Field } from './fields.ts';

const aggregates = ['sum', 'avg', 'count', 'min', 'max'] as const;
export type Aggregate = (typeof aggregates)[number];

export interface SelectedField {
  readonly kind: 'field';
  /** Undefined for `count()` of rows. */
  readonly field: Field | undefined;
  readonly alias: string | undefined;
  readonly cast: string | undefined;
  readonly aggregate: Aggregate | undefined;
  readonly aggregateCast: string | undefined;
}

export interface Embed {
  readonly kind: 'embed';
  readonly relation: string;
  readonly alias: string | undefined;
  readonly hint: string | undefined;
  readonly inner: boolean;
  /** True when its columns become columns of the parent row. */
  readonly spread: boolean;
  readonly items: readonly SelectItem[];
}

export type SelectItem = { readonly kind: 'star' } | SelectedField | Embed;

const maxDepth = 30;

/** Parses the columns and embeds of `select=`. */
export function parseSelect(text: string): readonly SelectItem[] {
  const cursor = new Cursor(text, 'select parameter');
  cursor.skipSpaces();
  const items = cursor.isAtEnd ? [] : readItems(cursor, 0);
  cursor.expectEnd('"," or end of input');
  return items;
}

function readItems(cursor: Cursor, depth: number): SelectItem[] {
  if (depth > maxDepth) cursor.fail('fewer embeds within embeds');
  const items: SelectItem[] = [];
  do {
    cursor.skipSpaces();
    items.push(readItem(cursor, depth));
    cursor.skipSpaces();
  } while (cursor.take(','));
  return items;
}

function readItem(cursor: Cursor, depth: number): SelectItem {
  if (cursor.take('*')) return { kind: 'star' };
  const spread = cursor.take('...');
  const start = cursor.index;
  let alias: string | undefined;
  const first = readName(cursor);
  // A single colon ends an alias, two colons begin a cast.
  if (cursor.peek(':') && !cursor.peek('::')) {
    cursor.take(':');
    alias = first;
  } else cursor.index = start;
  const count = cursor.match(/count\(\)/y);
  if (count !== undefined) {
    return {
      kind: 'field',
      field: undefined,
      alias,
      cast: undefined,
      aggregate: 'count',
      aggregateCast: readCast(cursor),
    };
  }
  const field = readField(cursor);
  const embed = field.path.length > 0 ? undefined : readEmbed(cursor, depth, { relation: field.name, alias, spread });
  if (embed !== undefined) return embed;
  if (spread) cursor.fail('"("');
  const cast = readCast(cursor);
  let aggregate: Aggregate | undefined;
  if (cursor.take('.')) {
    const name = cursor.match(/[a-z]+(?=\(\))/y);
    aggregate = aggregates.find((each) => each === name) ?? cursor.fail('aggregate (sum, avg, count, min, max)');
    cursor.take('()');
  }
  const aggregateCast = aggregate === undefined ? undefined : readCast(cursor);
  return { kind: 'field', field, alias, cast, aggregate, aggregateCast };
}

function readEmbed(
  cursor: Cursor,
  depth: number,
  { relation, alias, spread }: Pick<Embed, 'relation' | 'alias' | 'spread'>,
): Embed | undefined {
  let hint: string | undefined;
  let inner = false;
  const start = cursor.index;
  while (cursor.take('!')) {
    const name = readName(cursor);
    if (name === 'inner') inner = true;
    else if (name !== 'left') hint = name;
  }
  if (!cursor.take('(')) {
    if (cursor.index !== start) cursor.fail('"("');
    return undefined;
  }
  cursor.skipSpaces();
  const items = cursor.peek(')') ? [] : readItems(cursor, depth + 1);
  if (!cursor.take(')')) cursor.fail('"," or ")"');
  return { kind: 'embed', relation, alias, hint, inner, spread, items };
}

/**
 * Reads a cast. Only type names with lengths and brackets are accepted, since the text becomes part of the statement.
 */
function readCast(cursor: Cursor): string | undefined {
  if (!cursor.take('::')) return undefined;
  const type = cursor.match(
    /[A-Za-z_][A-Za-z_0-9 ]*(?:\(\d{1,4}(?:,\d{1,4})?\))?(?: with(?:out)? time zone)?(?:\[\])*/y,
  );
  return type ?? cursor.fail('a type');
}
