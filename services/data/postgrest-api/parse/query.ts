import { RestError } from '../errors.ts';
import { Cursor } from './cursor.ts';
import { readName, readPath, type Field } from './fields.ts';
import { isOperation, parseFilter, parseLogic, type Condition } from './filters.ts';
import { parseOrder, type Order } from './order.ts';
import { parseSelect, type SelectItem } from './select.ts';

/** What a query string says of one table: the one that is asked for, or an embed of it. */
export interface Scope {
  readonly conditions: Condition[];
  order: readonly Order[];
  limit: number | undefined;
  offset: number | undefined;
}

/** A query string of the row route. */
export interface Query {
  /** Undefined: none was given, so all columns. */
  readonly select: readonly SelectItem[] | undefined;
  /** By the path of the embed, its names joined by a line break; '' is the table itself. */
  readonly scopes: ReadonlyMap<string, Scope>;
  readonly columns: readonly string[] | undefined;
  readonly onConflict: readonly string[] | undefined;
  /** For functions: what is neither a filter nor anything else of this. */
  readonly parameters: readonly (readonly [string, string])[];
}

/** Between the names of a path of embeds; no name that a client sends can be told apart from it otherwise. */
export const pathSeparator = '\n';

/** Reads a query string as it was sent. With `isCall` what is no filter is an argument. */
export function parseQuery(raw: string, isCall: boolean): Query {
  const scopes = new Map<string, Scope>();
  const parameters: [string, string][] = [];
  let select: readonly SelectItem[] | undefined;
  let columns: readonly string[] | undefined;
  let onConflict: readonly string[] | undefined;
  for (const [key, value] of new URLSearchParams(raw)) {
    if (key === 'apikey') continue;
    // Of several the first one counts, as for PostgREST.
    if (key === 'select') select ??= parseSelect(value);
    else if (key === 'columns') columns ??= parseNames(value, 'columns parameter');
    else if (key === 'on_conflict') onConflict ??= parseNames(value, 'on_conflict parameter');
    else if (isCall && !isOperation(value) && !/^(?:.*\.)?(?:order|limit|offset|and|or)$/.test(key))
      parameters.push([key, value]);
    else readInto(scopes, key, value);
  }
  return { select, scopes, columns, onConflict, parameters };
}

function readInto(scopes: Map<string, Scope>, key: string, value: string): void {
  const { path, field } = parseKey(key);
  const last = field.path.length === 0 ? field.name : '';
  if (last === 'order') {
    const scope = scopeAt(scopes, path);
    const order = parseOrder(value);
    if (scope.order.length === 0) scope.order = order;
  } else if (last === 'limit') scopeAt(scopes, path).limit = parseLimit(value);
  else if (last === 'offset') scopeAt(scopes, path).offset = parseOffset(value);
  else if (last === 'and' || last === 'or') {
    const not = path.at(-1) === 'not';
    scopeAt(scopes, not ? path.slice(0, -1) : path).conditions.push(parseLogic(last, not, value));
  } else scopeAt(scopes, path).conditions.push(parseFilter(field, value));
}

function scopeAt(scopes: Map<string, Scope>, path: readonly string[]): Scope {
  const name = path.join(pathSeparator);
  let scope = scopes.get(name);
  if (scope === undefined)
    scopes.set(name, (scope = { conditions: [], order: [], limit: undefined, offset: undefined }));
  return scope;
}

/** `author.name`, `"a.b"->>c`. */
function parseKey(key: string): { readonly path: readonly string[]; readonly field: Field } {
  const cursor = new Cursor(key, 'tree path');
  const names: string[] = [];
  do names.push(readName(cursor));
  while (cursor.take('.'));
  const path = readPath(cursor);
  cursor.expectEnd('"->>", "->" or end of input');
  return { path: names.slice(0, -1), field: { name: names.at(-1) ?? '', path } };
}

function parseNames(text: string, what: string): readonly string[] {
  const cursor = new Cursor(text, what);
  const names: string[] = [];
  do {
    cursor.skipSpaces();
    names.push(readName(cursor));
    cursor.skipSpaces();
  } while (cursor.take(','));
  cursor.expectEnd('"," or end of input');
  return [...new Set(names)];
}

/** A limit that is no whole number is ignored, as by PostgREST. @throws RestError PGRST103 for a negative one */
function parseLimit(text: string): number | undefined {
  if (/^-\d+$/.test(text)) {
    throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
      details: 'Limit should be greater than or equal to zero.',
    });
  }
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** An offset that is no whole number, or before the first row, is the first row. */
function parseOffset(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
