import { bytesOfRune, runeAt } from '../bytes.ts';
import type { Run } from '../run.ts';
import { Integer, typeOf, type Value } from '../values.ts';
import { Formatter, type Flags } from './formatter.ts';

/** The widest field that Go allows, and the most that fits the output. */
const widest = 1_000_000;
const directive = /%([-+# 0]*)(\[\d+\])?(\*|\d+)?(?:\.(\[\d+\])?(\*|\d+)?)?(\[\d+\])?/y;

/** Go's Printf. Format and values are bytes. */
export function formatText(format: string, given: readonly Value[], run: Run): string {
  return new Printf(format, given, run).text();
}

class Printf {
  readonly #format: string;
  readonly #given: readonly Value[];
  readonly #run: Run;
  readonly #formatter: Formatter;
  #next = 0;
  #reordered = false;
  /** An index pointed to where nothing is. */
  #lost = false;
  #out = '';

  constructor(format: string, given: readonly Value[], run: Run) {
    this.#format = format;
    this.#given = given;
    this.#run = run;
    this.#formatter = new Formatter(run);
  }

  text(): string {
    let at = 0;
    while (at < this.#format.length) {
      const percent = this.#format.indexOf('%', at);
      const end = percent < 0 ? this.#format.length : percent;
      this.#add(this.#format.slice(at, end));
      at = percent < 0 ? end : this.#directive(percent);
    }
    const extra = this.#given.slice(this.#next);
    if (!this.#reordered && extra.length > 0) {
      const written = extra.map((value) =>
        value === null || value === undefined ? '<nil>' : `${typeOf(value)}=${this.#formatter.write(value, 'v')}`,
      );
      this.#add(`%!(EXTRA ${written.join(', ')})`);
    }
    return this.#out;
  }

  /** Writes what one `%…` asks for; answers where the format goes on. */
  #directive(at: number): number {
    directive.lastIndex = at;
    const [all = '%', signs = '', widthIndex, width, precisionIndex, precision, index] =
      directive.exec(this.#format) ?? [];
    this.#lost = false;
    this.#seek(widthIndex);
    const flags = this.#flags(signs, width);
    this.#seek(precisionIndex);
    const hasPrecision = all.slice(signs.length).includes('.');
    const digits = hasPrecision ? this.#digits(precision) : undefined;
    this.#seek(index);
    const verbAt = at + all.length;
    // What comes after a number beyond all bounds is lost, as in Go.
    if (verbAt >= this.#format.length || isTooLarge(width) || isTooLarge(precision)) {
      this.#add('%!(NOVERB)');
      return this.#format.length;
    }
    const { rune, size } = runeAt(this.#format, verbAt);
    this.#add(this.#verb(bytesOfRune(rune), { ...flags, precision: digits }));
    return verbAt + size;
  }

  #verb(verb: string, flags: Flags): string {
    if (verb === '%') return '%';
    if (this.#lost) return `%!${verb}(BADINDEX)`;
    if (this.#next >= this.#given.length) return `%!${verb}(MISSING)`;
    const value = this.#given[this.#next];
    this.#next += 1;
    return this.#formatter.write(value, verb, flags);
  }

  #flags(signs: string, width: string | undefined): Flags {
    const has = (sign: string): boolean => signs.includes(sign);
    const flags = { plus: has('+'), sharp: has('#'), space: has(' '), zero: has('0') };
    const wide = width === undefined ? undefined : this.#number(width, '%!(BADWIDTH)');
    // A negative width is the sign for the left side.
    const size = wide === undefined ? undefined : Math.abs(wide);
    this.#run.fits(size ?? 0);
    return { ...flags, minus: has('-') || (wide ?? 0) < 0, width: size };
  }

  #digits(text: string | undefined): number | undefined {
    if (text === undefined) return 0;
    const digits = this.#number(text, '%!(BADPREC)');
    if (digits !== undefined && digits < 0) {
      this.#add('%!(BADPREC)');
      return undefined;
    }
    this.#run.fits(digits ?? 0);
    return digits;
  }

  /** A number of the format, or with `*` the next value. */
  #number(text: string, otherwise: string): number | undefined {
    if (text !== '*') return isTooLarge(text) ? undefined : Number(text);
    const value = this.#given[this.#next];
    if (this.#next < this.#given.length) this.#next += 1;
    if (value instanceof Integer && Math.abs(Number(value.value)) <= widest) return Number(value.value);
    this.#add(otherwise);
    return undefined;
  }

  #seek(index: string | undefined): void {
    if (index === undefined) return;
    this.#reordered = true;
    const at = Number(index.slice(1, -1)) - 1;
    if (at >= 0 && at < this.#given.length) this.#next = at;
    else this.#lost = true;
  }

  #add(text: string): void {
    this.#out += text;
    this.#run.fits(this.#out.length);
  }
}

function isTooLarge(number: string | undefined): boolean {
  return Math.floor(Number(number ?? 0) / 10) > widest;
}
