import pg from 'pg';
import { quoteIdentifier } from '../../../contracts/data/sql-names.ts';

/** Collects the values of one statement, which refers to them as `$1`, `$2`, …. */
export class Values {
  readonly all: string[] = [];

  /** Adds a value and returns its placeholder. PostgreSQL infers its type, or `type` is used. */
  bind(value: string, type?: string): string {
    this.all.push(value);
    const placeholder = `$${this.all.length}`;
    return type === undefined ? placeholder : `${placeholder}::${type}`;
  }
}

/** Quotes an identifier. */
export const quote = quoteIdentifier;

/** Quotes a text literal, for texts that PostgreSQL must see when it plans the statement. */
export function quoteLiteral(text: string): string {
  return pg.escapeLiteral(text.replaceAll('\0', ''));
}

export function quoteKey(key: string): string {
  const [schema = '', name = ''] = key.split('\n');
  return `${quote(schema)}.${quote(name)}`;
}

/** Returns the table name of a key, without its schema. */
export function getTableName(key: string): string {
  return key.slice(key.indexOf('\n') + 1);
}

/** Formats an array literal. */
export function toArrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
