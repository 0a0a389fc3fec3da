import { DataCsvType } from '../../contracts/data/csv.ts';
import { parseJson } from '../../contracts/parse-json.ts';

const matchers: Readonly<Record<Exclude<DataCsvType, 'text'>, (text: string) => boolean>> = {
  boolean: (text) => /^(?:true|false|yes|no|t|f)$/i.test(text),
  // Values with a leading zero are postcodes or telephone numbers.
  bigint: (text) => /^[+-]?(?:0|[1-9]\d{0,17})$/.test(text),
  numeric: (text) => /^[+-]?(?:0|[1-9]\d{0,99})?(?:\.\d{1,99})?(?:e[+-]?\d{1,3})?$/i.test(text) && /\d/.test(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  timestamptz: (text) =>
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d\d(?::?\d\d)?))?$/.test(text) && isDay(text),
  uuid: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  jsonb: (text) => /^[[{]/.test(text) && parseJson(text) !== undefined,
};

/** Finds the narrowest type that all values of a column match. */
export class TypeInference {
  #candidates: readonly Exclude<DataCsvType, 'text'>[] = DataCsvType.options.filter((type) => type !== 'text');
  #hasValues = false;

  /** Adds a value. Empty fields are ignored. */
  add(text: string): void {
    if (text === '') return;
    this.#hasValues = true;
    if (this.#candidates.length > 0) this.#candidates = this.#candidates.filter((type) => matchers[type](text));
  }

  get type(): DataCsvType {
    return this.#hasValues ? (this.#candidates[0] ?? 'text') : 'text';
  }
}

/** Returns the most frequent separator of the first line. */
export function detectSeparator(text: string): string {
  const [line = ''] = text.split(/\r?\n/, 1);
  const unquoted = line.replaceAll(/"(?:[^"]|"")*"/g, '');
  const count = (separator: string): number => unquoted.split(separator).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/** Converts a header to valid column names: not empty, unique and not too long. */
export function toColumnNames(header: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const [index, text] of header.entries()) {
    const baseName = truncateName(text.replaceAll('\0', '').trim(), 60) || `column_${index + 1}`;
    let name = baseName;
    for (let suffix = 2; names.includes(name); suffix += 1) name = `${truncateName(baseName, 56)}_${suffix}`;
    names.push(name);
  }
  return names;
}

/** Truncates a name. PostgreSQL limits names in bytes. */
function truncateName(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString().replaceAll('\uFFFD', '');
}

function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
