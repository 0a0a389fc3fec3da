import type { DataColumn } from '../../../../../services/contracts/data/rows.ts';

/** JSON value of an example. */
export type SampleValue = string | number | boolean | readonly string[] | Readonly<Record<string, never>>;

/** Named values in column order; an array, because a column may be named `__proto__`. */
export type SampleRow = readonly (readonly [name: string, value: SampleValue])[];

const sampleId = '3f2b7c1e-5a4d-4e8f-9b6a-0c1d2e3f4a5b';
const maxColumns = 4;
const numberTypes: ReadonlySet<string> = new Set([
  'smallint',
  'integer',
  'bigint',
  'numeric',
  'real',
  'double precision',
]);

/** Returns an example value of a type. */
export function getSampleValue({ type, choices }: Pick<DataColumn, 'type' | 'choices'>): SampleValue {
  if (choices[0] !== undefined) return choices[0];
  if (type.endsWith('[]')) return ['one', 'two'];
  if (type === 'uuid') return sampleId;
  // The type may have a precision: `numeric(10,2)`.
  if (numberTypes.has(type.replace(/\(.*/, ''))) return 1;
  if (type === 'boolean') return true;
  if (/^jsonb?$/.test(type)) return {};
  if (type.startsWith('timestamp')) return '2026-01-31T12:00:00Z';
  if (type === 'date') return '2026-01-31';
  return type.startsWith('time') ? '12:00:00' : 'text';
}

const isWritable = ({ isGenerated, isIdentity }: DataColumn): boolean => !isGenerated && !isIdentity;

/** Builds a row to insert: all required columns, and some of the others. */
export function buildSampleRow(columns: readonly DataColumn[]): SampleRow {
  const writable = columns.filter(isWritable);
  const required = writable.filter(({ isNullable, defaultValue }) => !isNullable && defaultValue === null);
  const optional = writable.filter((column) => !required.includes(column) && column.defaultValue === null);
  const selected = [...required, ...optional.slice(0, Math.max(0, maxColumns - required.length))];
  const inOrder = writable.filter((column) => selected.includes(column));
  return (inOrder.length === 0 ? writable.slice(0, 1) : inOrder).map(toSample);
}

/** Builds the changed values of an update: the first column that is not part of the key. */
export function buildSampleChange(columns: readonly DataColumn[]): SampleRow {
  const writable = columns.filter(isWritable);
  const changed = writable.find(({ isKey }) => !isKey) ?? writable[0];
  return changed === undefined ? [] : [toSample(changed)];
}

/** Builds the values that identify a row: the key, or the first column of a table without one. */
export function buildSampleKey(columns: readonly DataColumn[]): SampleRow {
  const keys = columns.filter(({ isKey }) => isKey);
  return (keys.length === 0 ? columns.slice(0, 1) : keys).map(toSample);
}

const toSample = (column: DataColumn): readonly [string, SampleValue] => [column.name, getSampleValue(column)];
