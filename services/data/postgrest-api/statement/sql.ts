import pg from 'pg';

/** Collects the values of one statement; what of it is text holds `$1`, `$2`, … for them. */
export class Values {
  readonly all: string[] = [];

  /** The place that stands for this value. Its type is what PostgreSQL takes it for there, or `type`. */
  bind(value: string, type?: string): string {
    this.all.push(value);
    const place = `$${this.all.length}`;
    return type === undefined ? place : `${place}::${type}`;
  }
}

/** A name as it is safe in a statement, whatever it holds. */
export function quote(name: string): string {
  // No name holds it, and the protocol cannot carry it.
  return pg.escapeIdentifier(name.replaceAll('\0', ''));
}

/** A text that stands in the statement itself, since PostgreSQL must see what it is when it plans. */
export function literal(text: string): string {
  return pg.escapeLiteral(text.replaceAll('\0', ''));
}

export function quoteKey(key: string): string {
  const [schema = '', name = ''] = key.split('\n');
  return `${quote(schema)}.${quote(name)}`;
}

/** The name of a table without its schema. */
export function nameOf(key: string): string {
  return key.slice(key.indexOf('\n') + 1);
}

/** An array as PostgreSQL reads it. */
export function arrayText(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
