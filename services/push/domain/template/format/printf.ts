import { encodeRune, readRune } from '../bytes.ts';
import type { TemplateRun } from '../run.ts';
import { Integer, getType, type Value } from '../values.ts';
import { Formatter, type Flags } from './formatter.ts';

/** Maximum field width in Go, and maximum precision. */
const maxWidth = 1_000_000;
const directive = /%([-+# 0]*)(\[\d+\])?(\*|\d+)?(?:\.(\[\d+\])?(\*|\d+)?)?(\[\d+\])?/y;

/** Implements Go's Printf. Format and values are bytes. */
export function formatText(format: string, values: readonly Value[], run: TemplateRun): string {
  return new Printf(format, values, run).text();
}

class Printf {
  readonly #format: string;
  readonly #values: readonly Value[];
  readonly #run: TemplateRun;
  readonly #formatter: Formatter;
  #next = 0;
  #reordered = false;
  /** True after an argument index out of range. */
  #badIndex = false;
  #output = '';

  constructor(format: string, values: readonly Value[], run: TemplateRun) {
    this.#format = format;
    this.#values = values;
    this.#run = run;
    this.#formatter = new Formatter(run);
  }

  text(): string {
    let index = 0;
    while (index < this.#format.length) {
      const percent = this.#format.indexOf('%', index);
      const end = percent < 0 ? this.#format.length : percent;
      this.#add(this.#format.slice(index, end));
      index = percent < 0 ? end : this.#directive(percent);
    }
    const extra = this.#values.slice(this.#next);
    if (!this.#reordered && extra.length > 0) {
      const extras = extra.map((value) =>
        value === null || value === undefined ? '<nil>' : `${getType(value)}=${this.#formatter.write(value, 'v')}`,
      );
      this.#add(`%!(EXTRA ${extras.join(', ')})`);
    }
    return this.#output;
  }

  /** Formats one `%…` directive and returns the index after it. */
  #directive(start: number): number {
    directive.lastIndex = start;
    const [directiveText = '%', flagText = '', widthIndex, width, precisionIndex, precision, index] =
      directive.exec(this.#format) ?? [];
    this.#badIndex = false;
    this.#seek(widthIndex);
    const flags = this.#flags(flagText, width);
    this.#seek(precisionIndex);
    const hasPrecision = directiveText.slice(flagText.length).includes('.');
    const digits = hasPrecision ? this.#digits(precision) : undefined;
    this.#seek(index);
    const verbIndex = start + directiveText.length;
    // Output after an excessive number is dropped, as in Go.
    if (verbIndex >= this.#format.length || isTooLarge(width) || isTooLarge(precision)) {
      this.#add('%!(NOVERB)');
      return this.#format.length;
    }
    const { rune, size } = readRune(this.#format, verbIndex);
    this.#add(this.#verb(encodeRune(rune), { ...flags, precision: digits }));
    return verbIndex + size;
  }

  #verb(verb: string, flags: Flags): string {
    if (verb === '%') return '%';
    if (this.#badIndex) return `%!${verb}(BADINDEX)`;
    if (this.#next >= this.#values.length) return `%!${verb}(MISSING)`;
    const value = this.#values[this.#next];
    this.#next += 1;
    return this.#formatter.write(value, verb, flags);
  }

  #flags(flagText: string, width: string | undefined): Flags {
    const hasFlag = (sign: string): boolean => flagText.includes(sign);
    const flags = { plus: hasFlag('+'), sharp: hasFlag('#'), space: hasFlag(' '), zero: hasFlag('0') };
    const signedWidth = width === undefined ? undefined : this.#number(width, '%!(BADWIDTH)');
    // A negative width aligns left.
    const size = signedWidth === undefined ? undefined : Math.abs(signedWidth);
    this.#run.checkLength(size ?? 0);
    return { ...flags, minus: hasFlag('-') || (signedWidth ?? 0) < 0, width: size };
  }

  #digits(text: string | undefined): number | undefined {
    if (text === undefined) return 0;
    const digits = this.#number(text, '%!(BADPREC)');
    if (digits !== undefined && digits < 0) {
      this.#add('%!(BADPREC)');
      return undefined;
    }
    this.#run.checkLength(digits ?? 0);
    return digits;
  }

  /** Reads a number of the format, or the next value for `*`. */
  #number(text: string, errorText: string): number | undefined {
    if (text !== '*') return isTooLarge(text) ? undefined : Number(text);
    const value = this.#values[this.#next];
    if (this.#next < this.#values.length) this.#next += 1;
    if (value instanceof Integer && Math.abs(Number(value.value)) <= maxWidth) return Number(value.value);
    this.#add(errorText);
    return undefined;
  }

  #seek(index: string | undefined): void {
    if (index === undefined) return;
    this.#reordered = true;
    const position = Number(index.slice(1, -1)) - 1;
    if (position >= 0 && position < this.#values.length) this.#next = position;
    else this.#badIndex = true;
  }

  #add(text: string): void {
    this.#output += text;
    this.#run.checkLength(this.#output.length);
  }
}

function isTooLarge(number: string | undefined): boolean {
  return Math.floor(Number(number ?? 0) / 10) > maxWidth;
}
