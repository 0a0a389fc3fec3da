import * as m from '#messages/host-problems';
import { createHash } from 'node:crypto';
import { Problem } from '../../../../services/contracts/problem.ts';

/** Column types that both dialects share. */
export type ColumnType = 'integer' | 'real' | 'text' | 'blob';

export interface MovedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** Table whose rows are moved. A table of the kind `words` is a full-text index, which each dialect stores differently. */
export interface MovedTable {
  readonly name: string;
  readonly kind: 'rows' | 'words';
  readonly columns: readonly MovedColumn[];
}

/** Value in the form that both dialects share. */
export type MovedValue = bigint | number | string | Uint8Array | null;

export type MovedRow = readonly MovedValue[];

/** Number of rows, and a checksum that does not depend on their order. */
export interface TableTotal {
  readonly count: number;
  readonly checksum: string;
}

/** Columns of a full-text index: the number of the row, and its words in their order. */
export const wordColumns: readonly MovedColumn[] = [
  { name: 'number', type: 'integer' },
  { name: 'words', type: 'text' },
];

/** PostgreSQL does not accept NUL characters in text. */
const nul = '\u0000';
const replacement = '\u{FFFD}';

/**
 * Converts a value that a driver returned.
 * @throws Problem `database.move_value` (422) when the value does not have the type of its column
 */
export function toMovedValue(value: unknown, column: MovedColumn, table: string): MovedValue {
  if (value === null || value === undefined) return null;
  const converted = converters[column.type](value);
  if (converted !== undefined) return converted;
  const detail = (): string => m.moveValueInvalid({ column: `${table}.${column.name}` });
  throw new Problem('database.move_value', 422, detail, { retryable: false });
}

const converters: Readonly<Record<ColumnType, (value: unknown) => MovedValue | undefined>> = {
  integer: (value) =>
    typeof value === 'bigint'
      ? value
      : (typeof value === 'string' && /^-?\d+$/.test(value)) || Number.isInteger(value)
        ? BigInt(value as string | number)
        : undefined,
  real: (value) =>
    typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string' ? Number(value) : undefined,
  text: (value) =>
    typeof value === 'string'
      ? value
      : typeof value === 'number' || typeof value === 'bigint'
        ? String(value)
        : undefined,
  blob: (value) =>
    value instanceof Uint8Array ? value : typeof value === 'string' ? Buffer.from(value, 'utf8') : undefined,
};

/** Replaces NUL characters in texts, and counts the changed values by column. */
export class NulReplacement {
  readonly counts = new Map<string, number>();

  apply(table: MovedTable, row: MovedRow): MovedRow {
    if (!row.some((value) => typeof value === 'string' && value.includes(nul))) return row;
    return row.map((value, index) => {
      if (typeof value !== 'string' || !value.includes(nul)) return value;
      const column = `${table.name}.${table.columns[index]?.name ?? ''}`;
      this.counts.set(column, (this.counts.get(column) ?? 0) + 1);
      return value.replaceAll(nul, replacement);
    });
  }
}

/** Sums the hashes of rows, so that the order does not matter and equal rows count separately. */
export class TableChecksum {
  #count = 0;
  #sum = 0n;

  add(table: MovedTable, row: MovedRow): void {
    const hash = createHash('sha256');
    row.forEach((value, index) => {
      const isWords = table.kind === 'words' && index === 1;
      const bytes = encodeValue(isWords ? normalizeWords(value) : value);
      hash.update(`${bytes.type}${String(bytes.content.length)}:`).update(bytes.content);
    });
    this.#count += 1;
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash.digest('hex')}`));
  }

  get total(): TableTotal {
    return { count: this.#count, checksum: this.#sum.toString(16) };
  }
}

/** PostgreSQL stores the positions of the first 16,383 words only, so the order is not part of the checksum. */
function normalizeWords(value: MovedValue | undefined): MovedValue {
  return [...new Set(String(value).split(' '))].toSorted().join(' ');
}

function encodeValue(value: MovedValue): { readonly type: string; readonly content: Uint8Array } {
  if (value === null) return { type: 'n', content: Buffer.alloc(0) };
  if (typeof value === 'bigint') return { type: 'i', content: Buffer.from(String(value)) };
  if (typeof value === 'string') return { type: 't', content: Buffer.from(value, 'utf8') };
  if (value instanceof Uint8Array) return { type: 'b', content: value };
  const content = Buffer.alloc(8);
  content.writeDoubleBE(value);
  return { type: 'r', content };
}
