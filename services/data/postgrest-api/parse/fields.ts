import type { Cursor } from './cursor.ts';

/** A step into JSON: `->key`, `->>0`. */
export interface JsonStep {
  readonly asText: boolean;
  readonly key: string | number;
}

/** A column, or a place in the JSON of one. */
export interface Field {
  readonly name: string;
  readonly path: readonly JsonStep[];
}

/** A dash belongs to a name unless it begins an arrow. */
const plainName = /(?:[^.,:()"!*\->]|-(?!>))+/y;

/** A name as it stands in a query: plain, or in quotes with anything in it. */
export function readName(cursor: Cursor): string {
  if (cursor.peek('"')) return readQuoted(cursor);
  const name = cursor.match(plainName)?.trim() ?? '';
  return name === '' ? cursor.fail('field name (* or [a..z0..9_$])') : name;
}

/** A text in quotes, in which a backslash stands before what is meant literally. */
export function readQuoted(cursor: Cursor): string {
  const found = cursor.match(/"(?:[^"\\]|\\.)*"/sy);
  return found === undefined ? cursor.fail('"\\""') : found.slice(1, -1).replace(/\\(.)/gs, '$1');
}

export function readField(cursor: Cursor): Field {
  return { name: readName(cursor), path: readPath(cursor) };
}

/** A key in JSON: nearly all characters may be in it, up to the next arrow or cast. */
const jsonKey = /(?:[^.,>():"-]|-(?!>)|:(?!:))+/y;

function readKey(cursor: Cursor): string {
  if (cursor.peek('"')) return readQuoted(cursor);
  if (cursor.take('-')) cursor.fail('digit');
  const key = cursor.match(jsonKey);
  return key ?? cursor.fail('"-", digit or any non reserved character different from: .,>()');
}

export function readPath(cursor: Cursor): readonly JsonStep[] {
  const path: JsonStep[] = [];
  while (cursor.peek('->')) {
    const asText = cursor.take('->>') || !cursor.take('->');
    const index = cursor.match(/-?\d+(?=->|[.,:()]|::|$)/y);
    path.push({ asText, key: index === undefined ? readKey(cursor) : Number(index) });
  }
  return path;
}
