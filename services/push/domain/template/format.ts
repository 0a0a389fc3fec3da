import { RunFault } from './arguments.ts';
import { textOf, typeOf, type Value } from './values.ts';

const verb = /%([-+ 0#]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g;
const widest = 200;

/** Go's Printf for the values of JSON. Whole numbers do for `%d`, though numbers of JSON have a fraction in Go. */
export function formatText(format: string, given: readonly Value[], room: number): string {
  let next = 0;
  let length = 0;
  const text = format.replace(
    verb,
    (_all, flags: string, width: string | undefined, precision: string | undefined, letter: string) => {
      if (letter === '%') return '%';
      const value = given[next];
      next += 1;
      if (value === undefined) return `%!${letter}(MISSING)`;
      const written = pad(
        write(letter, value, precision === undefined ? undefined : Number(precision), flags),
        flags,
        width,
      );
      length += written.length;
      if (length > room) throw new RunFault('the text grows too long');
      return written;
    },
  );
  const extra = given.slice(next).map((value) => `${typeOf(value)}=${textOf(value, '<nil>')}`);
  return extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(', ')})`;
}

function write(letter: string, value: Value, precision: number | undefined, flags: string): string {
  const wrong = (): string => `%!${letter}(${typeOf(value)}=${textOf(value, '<nil>')})`;
  const sign = flags.includes('+') && typeof value === 'number' && value >= 0 ? '+' : '';
  switch (letter) {
    case 'v':
      return sign + textOf(value, '<nil>');
    case 's':
      return cutTo(textOf(value, '%!s(<nil>)'), precision);
    case 'q':
      return JSON.stringify(textOf(value, ''));
    case 'T':
      return typeOf(value);
    case 't':
      return typeof value === 'boolean' ? String(value) : wrong();
    case 'd':
      return typeof value === 'number' ? sign + String(Math.trunc(value)) : wrong();
    case 'f':
      return typeof value === 'number' ? sign + value.toFixed(Math.min(precision ?? 6, 20)) : wrong();
    case 'g':
      return typeof value === 'number'
        ? sign +
            String(precision === undefined ? value : Number(value.toPrecision(Math.min(Math.max(precision, 1), 20))))
        : wrong();
    case 'e':
      return typeof value === 'number'
        ? sign + value.toExponential(Math.min(precision ?? 6, 20)).replace(/e([+-])(\d)$/, 'e$10$2')
        : wrong();
    case 'x':
    case 'X': {
      if (typeof value !== 'number') return wrong();
      const digits = Math.trunc(value).toString(16);
      return letter === 'X' ? digits.toUpperCase() : digits;
    }
    case 'c':
      return typeof value === 'number' && value >= 0 && value <= 0x10ffff
        ? String.fromCodePoint(Math.trunc(value))
        : wrong();
    default:
      return wrong();
  }
}

function cutTo(text: string, length: number | undefined): string {
  return length === undefined ? text : [...text].slice(0, length).join('');
}

function pad(text: string, flags: string, width: string | undefined): string {
  const to = Math.min(Number(width ?? 0), widest);
  if (flags.includes('-')) return text.padEnd(to);
  if (!flags.includes('0')) return text.padStart(to);
  const signed = /^[+-]/.test(text) ? text.slice(0, 1) : '';
  return signed + text.slice(signed.length).padStart(to - signed.length, '0');
}
