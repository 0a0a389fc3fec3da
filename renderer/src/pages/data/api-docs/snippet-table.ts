import type { DataColumn } from '../../../../../services/contracts/data/rows.ts';
import type { SampleRow } from './sample-row.ts';

export type SnippetLanguage = 'js' | 'curl' | 'python';
export type Operation = 'setup' | 'select' | 'filter' | 'insert' | 'update' | 'upsert' | 'remove';

/** Table and connection of the examples. */
export interface SnippetTable {
  readonly url: string;
  /** Key for apps; never the one that bypasses policies. */
  readonly key: string;
  readonly schema: string;
  /** The schema is the default of the API. */
  readonly isDefaultSchema: boolean;
  readonly name: string;
  readonly columns: readonly DataColumn[];
  /** The table has a primary key; without it, upserts are not possible. */
  readonly hasKey: boolean;
  readonly isView: boolean;
}

/** Example values of the columns of the table. */
export interface SnippetSamples {
  readonly selected: readonly string[];
  readonly order: string;
  readonly key: SampleRow;
  readonly row: SampleRow;
  /** The row with the columns of its key. */
  readonly keyedRow: SampleRow;
  readonly change: SampleRow;
}

/** Builds the snippets of a language by operation. */
export type SnippetBuilder = (table: SnippetTable, samples: SnippetSamples) => Readonly<Record<Operation, string>>;

/** Quotes a column in the syntax of PostgREST: characters with a meaning need double quotes. */
export function quoteColumn(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_$]*$/u.test(name) ? name : `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
}
