import { RestError } from '../errors.ts';
import { CsvError, csvRows } from '../../csv/parse.ts';

/** What is to be written. */
export interface Payload {
  /** A list of objects, as JSON that nobody read and wrote again: numbers stay as they were sent. */
  readonly json: string;
  /** Of its first object; all others have the same. */
  readonly keys: readonly string[];
  readonly count: number;
  /** False: one object was sent. */
  readonly isList: boolean;
}

/** Reads the body of a write. With `columns` given the keys of its objects may differ. @throws RestError PGRST102 */
export function parsePayload(type: string | undefined, text: string, columns: readonly string[] | undefined): Payload {
  const media = type?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
  if (media === 'text/csv') return listOf(csvObjects(text));
  if (media === 'application/x-www-form-urlencoded') {
    const object = Object.fromEntries(new URLSearchParams(text));
    return { json: JSON.stringify([object]), keys: Object.keys(object), count: 1, isList: false };
  }
  if (media !== 'application/json' && media !== 'application/vnd.pgrst.object+json' && media !== '') {
    throw new RestError(400, 'PGRST102', `Content-Type not acceptable: ${media}`);
  }
  const value = parseJson(text);
  if (!Array.isArray(value)) {
    // PostgREST takes a number, a text, a boolean or null for an empty list.
    if (!isObject(value)) return { json: '[]', keys: [], count: 0, isList: true };
    return { json: `[${text}]`, keys: Object.keys(value), count: 1, isList: false };
  }
  const [first] = value as unknown[];
  if (first === undefined) return { json: '[]', keys: [], count: 0, isList: true };
  if (!value.every(isObject)) throw bad('All object keys must match');
  const keys = Object.keys(first as object);
  const all = new Set(keys);
  const isUniform = value.every((each) => {
    const own = Object.keys(each);
    return own.length === all.size && own.every((key) => all.has(key));
  });
  if (columns === undefined && !isUniform) throw bad('All object keys must match');
  return { json: text, keys, count: value.length, isList: true };
}

/** @throws RestError PGRST102 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) throw bad('Empty or invalid json');
    throw error;
  }
}

function listOf(objects: readonly Record<string, string | null>[]): Payload {
  return { json: JSON.stringify(objects), keys: Object.keys(objects[0] ?? {}), count: objects.length, isList: true };
}

function csvObjects(text: string): readonly Record<string, string | null>[] {
  const [header = [], ...rows] = linesOf(text);
  if (rows.some((row) => row.length !== header.length)) throw bad('All lines must have same number of fields');
  return rows.map((row) =>
    Object.fromEntries(header.map((name, at) => [name, row[at] === 'NULL' ? null : (row[at] ?? '')])),
  );
}

function linesOf(text: string): readonly string[][] {
  try {
    return [...csvRows(text)];
  } catch (error) {
    if (error instanceof CsvError) throw bad(error.message);
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(message: string): RestError {
  return new RestError(400, 'PGRST102', message);
}
