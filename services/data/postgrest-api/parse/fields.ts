import type { Cursor } from './cursor.ts';

/** Step of a JSON path: `->key`, `->>0`. */
export interface JsonStep {
  readonly asText: boolean;
  readonly key: string | number;
}

/** Column with an optional JSON path. */
export interface Field {
  readonly name: string;
  readonly path: readonly JsonStep[];
}

/** Unquoted name. A dash belongs to the name unless it begins an arrow. */
const unquotedName = /(?:[^.,:()"!*\->]|-(?!>))+/y;

/** Reads a name, unquoted or in quotes. */
export function readName(cursor: Cursor): string {
  if (cursor.peek('"')) return readQuoted(cursor);
  const name = cursor.match(unquotedName)?.trim() ?? '';
  return name === '' ? cursor.fail('field name (* or [a..z0..9_$])') : name;
}

/** Reads a quoted text, in which a backslash escapes the next character. */
export function readQuoted(cursor: Cursor): string {
  const match = cursor.match(/"(?:[^"\\]|\\.)*"/sy);
  return match === undefined ? cursor.fail('"\\""') : match.slice(1, -1).replace(/\\(.)/gs, '$1');
}

export function readField(cursor: Cursor): Field {
  return { name: readName(cursor), path: readPath(cursor) };
}

/** JSON key: nearly all characters up to the next arrow or cast. */
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
