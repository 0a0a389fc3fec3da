import type { ParsedStream } from '../stream.ts';
import { modifierOf, type Modifier } from './modifiers.ts';
import { fieldOf, type Field, type FieldValue } from './values.ts';

/** Longer templates are refused, and a longer text is cut. */
export const longestTemplate = 5000;
const longestText = 8000;
const deepest = 8;

interface Values {
  readonly stream: ParsedStream;
  readonly addonName: string;
}
/** Appends to the text; false when an inner value was empty. */
type Part = (values: Values) => string;

/** A template made ready, so that a thousand streams pay for its reading once. */
export type Template = (values: Values) => string;

const joiners: readonly string[] = ['and', 'or', 'xor', 'equal', 'neq'];

/** Makes a template ready. What is no expression stays as it is. */
export function compileTemplate(source: string): Template {
  const render = joined(new Reader(source.slice(0, longestTemplate)).parts(0, undefined));
  return (values) => tidy(render(values).slice(0, longestText));
}

/** What people would see as an empty line is none; `{tools.newLine}` and `{tools.removeLine}` take effect here. */
function tidy(text: string): string {
  if (!text.includes('{tools.')) return text.includes('\n') ? withoutEmptyLines(text) : text.trim() === '' ? '' : text;
  const lines = text.split('\n').filter((line) => !line.includes('{tools.removeLine}'));
  return withoutEmptyLines(lines.join('\n')).replaceAll('{tools.newLine}', '\n');
}

function withoutEmptyLines(text: string): string {
  let result = '';
  for (let at = 0; at <= text.length;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? text.length : end);
    if (line.trim() !== '') result += result === '' ? line : `\n${line}`;
    if (end === -1) break;
    at = end + 1;
  }
  return result;
}

function joined(parts: readonly Part[]): Part {
  return (values) => {
    let text = '';
    for (const part of parts) text += part(values);
    return text;
  };
}

class Reader {
  readonly #text: string;
  /** Where something begins that is no expression, so that it is not tried again from within each thing around it. */
  readonly #failed = new Set<number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Up to `end`, which stays unread, or to the end of the template. */
  parts(depth: number, end: string | undefined): readonly Part[] {
    const parts: Part[] = [];
    let literal = '';
    const flush = (): void => {
      const text = literal;
      literal = '';
      if (text !== '') parts.push(() => text);
    };
    while (this.#at < this.#text.length) {
      if (end !== undefined && this.#text.startsWith(end, this.#at)) break;
      const read = depth < deepest && this.#text[this.#at] === '{' ? this.#braces(depth) : undefined;
      if (read === undefined) {
        if (this.#text[this.#at] === '\\' && this.#text[this.#at + 1] === 'n' && end === undefined) {
          literal += '\n';
          this.#at += 2;
        } else {
          literal += this.#text[this.#at] ?? '';
          this.#at += 1;
        }
        continue;
      }
      flush();
      parts.push(read);
    }
    flush();
    return parts;
  }

  /** An expression or an optional piece; undefined, and nothing read, when it is neither. */
  #braces(depth: number): Part | undefined {
    const began = this.#at;
    if (this.#failed.has(began)) return undefined;
    const part = this.#text.startsWith('{?', began) ? this.#optional(depth) : this.#expression(depth);
    if (part === undefined) {
      this.#at = began;
      this.#failed.add(began);
    }
    return part;
  }

  /** `{?text {stream.x} text?}`: nothing at all when a value within is empty. */
  #optional(depth: number): Part | undefined {
    if (!this.#text.includes('?}', this.#at)) return undefined;
    this.#at += 2;
    const inner: Part[] = [];
    const fields: Part[] = [];
    while (!this.#text.startsWith('?}', this.#at)) {
      if (this.#at >= this.#text.length) return undefined;
      const read = this.#text[this.#at] === '{' && depth < deepest ? this.#braces(depth + 1) : undefined;
      if (read === undefined) {
        const letter = this.#text[this.#at] ?? '';
        inner.push(() => letter);
        this.#at += 1;
      } else {
        inner.push(read);
        fields.push(read);
      }
    }
    this.#at += 2;
    const whole = joined(inner);
    return (values) => (fields.some((field) => field(values) === '') ? '' : whole(values));
  }

  #expression(depth: number): Part | undefined {
    this.#at += 1;
    let value = this.#operand();
    if (value === undefined) return undefined;
    while (this.#text.startsWith('::', this.#at)) {
      const joiner = joiners.find((word) => this.#text.startsWith(`::${word}::`, this.#at));
      if (joiner === undefined) return undefined;
      this.#at += joiner.length + 4;
      const other = this.#operand();
      if (other === undefined) return undefined;
      value = combined(joiner, value, other);
    }
    const choices = this.#text[this.#at] === '[' ? this.#choices(depth) : [];
    if (choices === undefined || this.#text[this.#at] !== '}') return undefined;
    this.#at += 1;
    const read = value;
    const [whenTrue, whenFalse, whenNull] = choices;
    if (whenTrue === undefined) return (values) => shown(read(values));
    return (values) => {
      const found = read(values);
      if (found === null && whenNull !== undefined) return whenNull(values);
      return (isTrue(found) ? whenTrue : whenFalse)?.(values) ?? '';
    };
  }

  /** `section.field` and its modifiers, up to a joiner, the choices or the end. */
  #operand(): ((values: Values) => FieldValue) | undefined {
    const name = /([a-z]+)\.([A-Za-z]+)/y;
    name.lastIndex = this.#at;
    const found = name.exec(this.#text);
    const field = fieldOf(found?.[1] ?? '', found?.[2] ?? '');
    if (found === null || field === undefined) return undefined;
    this.#at = name.lastIndex;
    const modifiers: Modifier[] = [];
    while (this.#text.startsWith('::', this.#at)) {
      const began = this.#at;
      this.#at += 2;
      const word = this.#modifierText();
      if (joiners.includes(word) && this.#text.startsWith('::', this.#at)) {
        this.#at = began;
        break;
      }
      const modifier = modifierOf(word);
      if (modifier === undefined) return undefined;
      modifiers.push(modifier);
    }
    return operand(field, modifiers);
  }

  /** Up to the next `::`, `[` or `}` that is not within brackets or quotes. */
  #modifierText(): string {
    const began = this.#at;
    let depth = 0;
    let quote = '';
    for (; this.#at < this.#text.length; this.#at += 1) {
      const letter = this.#text[this.#at] ?? '';
      if (quote !== '') {
        if (letter === '\\') this.#at += 1;
        else if (letter === quote) quote = '';
      } else if (depth > 0 && (letter === "'" || letter === '"')) quote = letter;
      else if (letter === '(') depth += 1;
      else if (letter === ')') depth -= 1;
      else if (depth <= 0 && (letter === '[' || letter === '}' || this.#text.startsWith('::', this.#at))) break;
    }
    return this.#text.slice(began, this.#at);
  }

  /** `["a"||"b"||"c"]`; each may hold expressions of its own. */
  #choices(depth: number): readonly Part[] | undefined {
    const choices: Part[] = [];
    this.#at += 1;
    for (;;) {
      if (this.#text[this.#at] !== '"') return undefined;
      this.#at += 1;
      choices.push(joined(this.parts(depth + 1, '"')));
      if (this.#text[this.#at] !== '"') return undefined;
      this.#at += 1;
      if (this.#text.startsWith('||', this.#at)) this.#at += 2;
      else break;
    }
    if (this.#text[this.#at] !== ']' || choices.length > 3) return undefined;
    this.#at += 1;
    return choices;
  }
}

function operand(field: Field, modifiers: readonly Modifier[]): (values: Values) => FieldValue {
  return ({ stream, addonName }) => {
    let value = field(stream, { addonName });
    for (const modifier of modifiers) {
      const changed = modifier(value);
      // What does not fit a value leaves it as it is.
      if (changed !== undefined) value = changed;
    }
    return value;
  };
}

function combined(
  joiner: string,
  one: (values: Values) => FieldValue,
  other: (values: Values) => FieldValue,
): (values: Values) => FieldValue {
  return (values) => {
    const [left, right] = [one(values), other(values)];
    if (joiner === 'equal') return shown(left) === shown(right);
    if (joiner === 'neq') return shown(left) !== shown(right);
    if (joiner === 'and') return isTrue(left) && isTrue(right);
    return joiner === 'or' ? isTrue(left) || isTrue(right) : isTrue(left) !== isTrue(right);
  };
}

function isTrue(value: FieldValue): boolean {
  return (
    value !== null && value !== false && value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0)
  );
}

function shown(value: FieldValue): string {
  if (value === null) return '';
  return Array.isArray(value) ? value.join(', ') : String(value);
}
