import { RestError } from '../errors.ts';
import { Cursor } from './cursor.ts';
import { readName, readPath, type Field } from './fields.ts';
import { isOperation, parseFilter, parseLogic, type Condition } from './filters.ts';
import { parseOrder, type Order } from './order.ts';
import { parseSelect, type SelectItem } from './select.ts';

/** Filters, order and range for one table: the requested one or an embed. */
export interface Scope {
  readonly conditions: Condition[];
  order: readonly Order[];
  limit: number | undefined;
  offset: number | undefined;
}

/** Parsed query string of the row API. */
export interface Query {
  /** Undefined when the parameter is missing, which means all columns. */
  readonly select: readonly SelectItem[] | undefined;
  /** Scopes by embed path, its names joined by a line break; '' is the requested table. */
  readonly scopes: ReadonlyMap<string, Scope>;
  readonly columns: readonly string[] | undefined;
  readonly onConflict: readonly string[] | undefined;
  /** Function arguments: parameters that are neither filters nor reserved names. */
  readonly parameters: readonly (readonly [string, string])[];
}

/** Separator of the names in an embed path. URLs and identifiers do not contain it. */
export const pathSeparator = '\n';

/** Parses a raw query string. With `isCall` parameters that are not filters are function arguments. */
export function parseQuery(raw: string, isCall: boolean): Query {
  const scopes = new Map<string, Scope>();
  const parameters: [string, string][] = [];
  let select: readonly SelectItem[] | undefined;
  let columns: readonly string[] | undefined;
  let onConflict: readonly string[] | undefined;
  for (const [key, value] of new URLSearchParams(raw)) {
    if (key === 'apikey') continue;
    // The first of repeated parameters is used, as in PostgREST.
    if (key === 'select') select ??= parseSelect(value);
    else if (key === 'columns') columns ??= parseNames(value, 'columns parameter');
    else if (key === 'on_conflict') onConflict ??= parseNames(value, 'on_conflict parameter');
    else if (isCall && !isOperation(value) && !/^(?:.*\.)?(?:order|limit|offset|and|or)$/.test(key))
      parameters.push([key, value]);
    else addParameter(scopes, key, value);
  }
  return { select, scopes, columns, onConflict, parameters };
}

function addParameter(scopes: Map<string, Scope>, key: string, value: string): void {
  const { path, field } = parseKey(key);
  const lastName = field.path.length === 0 ? field.name : '';
  if (lastName === 'order') {
    const scope = getScope(scopes, path);
    const order = parseOrder(value);
    if (scope.order.length === 0) scope.order = order;
  } else if (lastName === 'limit') getScope(scopes, path).limit = parseLimit(value);
  else if (lastName === 'offset') getScope(scopes, path).offset = parseOffset(value);
  else if (lastName === 'and' || lastName === 'or') {
    const not = path.at(-1) === 'not';
    getScope(scopes, not ? path.slice(0, -1) : path).conditions.push(parseLogic(lastName, not, value));
  } else getScope(scopes, path).conditions.push(parseFilter(field, value));
}

function getScope(scopes: Map<string, Scope>, path: readonly string[]): Scope {
  const name = path.join(pathSeparator);
  let scope = scopes.get(name);
  if (scope === undefined)
    scopes.set(name, (scope = { conditions: [], order: [], limit: undefined, offset: undefined }));
  return scope;
}

/** Parses a parameter name such as `author.name` or `"a.b"->>c`. */
function parseKey(key: string): { readonly path: readonly string[]; readonly field: Field } {
  const cursor = new Cursor(key, 'tree path');
  const names: string[] = [];
  do names.push(readName(cursor));
  while (cursor.take('.'));
  const path = readPath(cursor);
  cursor.expectEnd('"->>", "->" or end of input');
  return { path: names.slice(0, -1), field: { name: names.at(-1) ?? '', path } };
}

function parseNames(text: string, subject: string): readonly string[] {
  const cursor = new Cursor(text, subject);
  const names: string[] = [];
  do {
    cursor.skipSpaces();
    names.push(readName(cursor));
    cursor.skipSpaces();
  } while (cursor.take(','));
  cursor.expectEnd('"," or end of input');
  return [...new Set(names)];
}

/**
 * Parses a limit. Values that are not integers are ignored, as in PostgREST.
 *
 * @throws RestError PGRST103 for a negative one
 */
function parseLimit(text: string): number | undefined {
  if (/^-\d+$/.test(text)) {
    throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
      details: 'Limit should be greater than or equal to zero.',
    });
  }
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Parses an offset. Negative values and values that are not integers count as 0. */
function parseOffset(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
