import { DataCsvType } from '../../contracts/data/csv.ts';

const forms: Readonly<Record<Exclude<DataCsvType, 'text'>, (text: string) => boolean>> = {
  boolean: (text) => /^(?:true|false|yes|no|t|f)$/i.test(text),
  // What begins with a zero is a postcode or a telephone number.
  bigint: (text) => /^[+-]?(?:0|[1-9]\d{0,17})$/.test(text),
  numeric: (text) => /^[+-]?(?:0|[1-9]\d{0,99})?(?:\.\d{1,99})?(?:e[+-]?\d{1,3})?$/i.test(text) && /\d/.test(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  timestamptz: (text) =>
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d\d(?::?\d\d)?))?$/.test(text) && isDay(text),
  uuid: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  jsonb: (text) => /^[[{]/.test(text) && isJson(text),
};

/** Looks at the values of one column and says the narrowest type that all of them fit. */
export class TypeGuess {
  #left: readonly Exclude<DataCsvType, 'text'>[] = DataCsvType.options.filter((type) => type !== 'text');
  #seen = false;

  /** A field that is empty says nothing. */
  look(text: string): void {
    if (text === '') return;
    this.#seen = true;
    if (this.#left.length > 0) this.#left = this.#left.filter((type) => forms[type](text));
  }

  get type(): DataCsvType {
    return this.#seen ? (this.#left[0] ?? 'text') : 'text';
  }
}

/** The separator that the first line of a file has most of. */
export function guessSeparator(text: string): string {
  const [line = ''] = text.split(/\r?\n/, 1);
  const bare = line.replaceAll(/"(?:[^"]|"")*"/g, '');
  const count = (separator: string): number => bare.split(separator).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/** Names of a first line as columns can have them: none empty, none twice, none too long. */
export function columnNames(header: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const [at, text] of header.entries()) {
    const wanted = cut(text.replaceAll('\0', '').trim(), 60) || `column_${at + 1}`;
    let name = wanted;
    for (let more = 2; names.includes(name); more += 1) name = `${cut(wanted, 56)}_${more}`;
    names.push(name);
  }
  return names;
}

/** PostgreSQL counts bytes. */
function cut(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString().replaceAll('\uFFFD', '');
}

function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
