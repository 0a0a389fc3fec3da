import { RestError } from '../errors.ts';
import { CsvError, parseCsvRows } from '../../csv/parse.ts';
import { parseJsonOrThrow } from '../../../contracts/parse-json.ts';
import { isRecord } from '../../../contracts/is-record.ts';

/** Rows of a write request. */
export interface Payload {
  /** List of objects as JSON text that is not parsed and serialized again, so that numbers keep their precision. */
  readonly json: string;
  /** Keys of the first object; all others have the same keys. */
  readonly keys: readonly string[];
  readonly count: number;
  /** False when a single object was sent. */
  readonly isList: boolean;
}

/**
 * Parses the body of a write. With `columns` the keys of its objects may differ.
 *
 * @throws RestError PGRST102
 */
export function parsePayload(type: string | undefined, text: string, columns: readonly string[] | undefined): Payload {
  const media = type?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
  if (media === 'text/csv') return toPayload(parseCsvObjects(text));
  if (media === 'application/x-www-form-urlencoded') {
    const object = Object.fromEntries(new URLSearchParams(text));
    return { json: JSON.stringify([object]), keys: Object.keys(object), count: 1, isList: false };
  }
  if (media !== 'application/json' && media !== 'application/vnd.pgrst.object+json' && media !== '') {
    throw new RestError(400, 'PGRST102', `Content-Type not acceptable: ${media}`);
  }
  const value = parseJsonPayload(text);
  if (!Array.isArray(value)) {
    // PostgREST treats a number, a text, a boolean or null as an empty list.
    if (!isRecord(value)) return { json: '[]', keys: [], count: 0, isList: true };
    return { json: `[${text}]`, keys: Object.keys(value), count: 1, isList: false };
  }
  const [first] = value as unknown[];
  if (first === undefined) return { json: '[]', keys: [], count: 0, isList: true };
  if (!value.every(isRecord)) throw createBodyError('All object keys must match');
  const keys = Object.keys(first as object);
  const expectedKeys = new Set(keys);
  const isUniform = value.every((each) => {
    const objectKeys = Object.keys(each);
    return objectKeys.length === expectedKeys.size && objectKeys.every((key) => expectedKeys.has(key));
  });
  if (columns === undefined && !isUniform) throw createBodyError('All object keys must match');
  return { json: text, keys, count: value.length, isList: true };
}

/** @throws RestError PGRST102 */
export function parseJsonPayload(text: string): unknown {
  return parseJsonOrThrow(text, () => createBodyError('Empty or invalid json'));
}

function toPayload(objects: readonly Record<string, string | null>[]): Payload {
  return { json: JSON.stringify(objects), keys: Object.keys(objects[0] ?? {}), count: objects.length, isList: true };
}

function parseCsvObjects(text: string): readonly Record<string, string | null>[] {
  const [header = [], ...rows] = parseCsv(text);
  if (rows.some((row) => row.length !== header.length))
    throw createBodyError('All lines must have same number of fields');
  return rows.map((row) =>
    Object.fromEntries(header.map((name, index) => [name, row[index] === 'NULL' ? null : (row[index] ?? '')])),
  );
}

function parseCsv(text: string): readonly string[][] {
  try {
    return [...parseCsvRows(text)];
  } catch (error) {
    if (error instanceof CsvError) throw createBodyError(error.message);
    throw error;
  }
}

function createBodyError(message: string): RestError {
  return new RestError(400, 'PGRST102', message);
}
