import { compileModifier } from './modifiers.ts';
import { ModifierSource, readModifier } from './read-modifier.ts';
import {
  findField,
  hasValue,
  isSection,
  type Field,
  type FieldValue,
  type FormatValues,
  type Modifier,
} from './values.ts';

/** Maximum length of a template. Longer templates are refused, and longer texts are truncated. */
export const maxTemplateLength = 20_000;
const maxTextLength = 8000;
const maxDepth = 8;

/**
 * Layout instructions are represented by control characters, which are removed from values, so that only templates can
 * contain them.
 */
const newLineMark = '\u0011';
const removeLineMark = '\u0012';
const marks = new RegExp(`[${newLineMark}${removeLineMark}]`, 'g');

/** Compiled template, which is parsed once for all streams. */
export type Template = (values: FormatValues) => string;

interface Part {
  readonly render: Template;
  /**
   * Returns true when the fields of the part have values. Absent for parts that never suppress the optional group
   * around them.
   */
  readonly isPresent?: (values: FormatValues) => boolean;
}

/** Field or quoted text with its modifiers. */
interface Operand {
  readonly value: (values: FormatValues) => FieldValue;
  readonly isPresent: (values: FormatValues) => boolean;
}

const joiners = ['and', 'or', 'xor', 'equal', 'neq', 'left', 'right'] as const;
type Joiner = (typeof joiners)[number];

/** Compiles a template. Braces that begin no expression are unchanged. */
export function compileTemplate(source: string): Template {
  const render = compileParts(source.slice(0, maxTemplateLength), 0, { left: maxWork });
  return (values) => tidy(joined(render, values).slice(0, maxTextLength));
}

/** Removes empty lines and lines that are marked for removal. */
function tidy(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.includes(removeLineMark));
  return lines.join('\n').replaceAll(newLineMark, '\n');
}

function joined(parts: readonly Part[], values: FormatValues): string {
  let text = '';
  for (const { render } of parts) {
    if (text.length > maxTextLength) break;
    text += render(values);
  }
  return text;
}

/**
 * Remaining characters that may be parsed again while one template is compiled. Templates beyond the limit are not
 * expanded.
 */
interface Work {
  left: number;
}

const maxWork = 1_000_000;
/** Cost of each parsed modifier, because an unterminated expression parses all following modifiers again. */
const modifierWork = 100;

function compileParts(source: string, depth: number, work: Work): readonly Part[] {
  work.left -= source.length;
  if (depth > maxDepth || work.left < 0) return [literal(source)];
  return new TemplateReader(source, depth, work).parts();
}

function literal(text: string): Part {
  const shown = text.replaceAll(String.raw`\n`, '\n').replaceAll(marks, '');
  return { render: () => shown };
}

/** Parses one template from left to right. */
class TemplateReader {
  readonly #text: string;
  readonly #depth: number;
  readonly #work: Work;
  readonly #optionalEnds: ReadonlyMap<number, number>;
  #index = 0;

  constructor(text: string, depth: number, work: Work) {
    this.#text = text;
    this.#depth = depth;
    this.#work = work;
    this.#optionalEnds = optionalEnds(text);
  }

  parts(): readonly Part[] {
    const parts: Part[] = [];
    let from = 0;
    while (this.#index < this.#text.length) {
      const start = this.#text.indexOf('{', this.#index);
      if (start === -1) break;
      this.#index = start;
      const part = this.#tool() ?? this.#optional() ?? this.#expression();
      if (part === undefined) {
        this.#index = start + 1;
        continue;
      }
      if (start > from) parts.push(literal(this.#text.slice(from, start)));
      parts.push(part);
      from = this.#index;
    }
    if (from < this.#text.length) parts.push(literal(this.#text.slice(from)));
    return parts;
  }

  #tool(): Part | undefined {
    const found = /\{\s*tools\.(newline|removeline)\s*\}/iy;
    found.lastIndex = this.#index;
    const name = found.exec(this.#text)?.[1]?.toLowerCase();
    if (name === undefined) return undefined;
    this.#index = found.lastIndex;
    return { render: () => (name === 'newline' ? newLineMark : removeLineMark) };
  }

  /** Parses `{?text {stream.x} text?}`, which is omitted when a field within it has no value. */
  #optional(): Part | undefined {
    const end = this.#optionalEnds.get(this.#index);
    if (end === undefined) return undefined;
    const parts = compileParts(this.#text.slice(this.#index + 2, end), this.#depth + 1, this.#work);
    this.#index = end + 2;
    return {
      render: (values) => (parts.some(({ isPresent }) => isPresent?.(values) === false) ? '' : joined(parts, values)),
    };
  }

  #expression(): Part | undefined {
    const start = this.#index;
    this.#index += 1;
    this.#skipSpaces();
    const first = this.#operand();
    const chain = first === undefined ? undefined : this.#chain(first);
    const choices = chain === undefined ? undefined : this.#choices();
    if (chain === undefined || choices === undefined) {
      this.#index = start;
      return undefined;
    }
    this.#skipSpaces();
    if (this.#text[this.#index] !== '}' && !this.#skipToBrace()) {
      this.#index = start;
      return undefined;
    }
    this.#index += 1;
    if (choices.length === 0) {
      return { render: (values) => shown(chain.value(values)), isPresent: chain.isPresent };
    }
    return { render: (values) => chosen(chain.value(values), choices, values) };
  }

  /** Skips unknown parts after a complete expression, so that no braces are visible. */
  #skipToBrace(): boolean {
    const end = this.#text.indexOf('}', this.#index);
    const next = this.#text.indexOf('{', this.#index);
    if (end === -1 || (next !== -1 && next < end)) return false;
    this.#index = end;
    return true;
  }

  #skipSpaces(): void {
    while (/\s/.test(this.#text[this.#index] ?? '')) this.#index += 1;
  }

  /** Parses `section.field` or a quoted text with its modifiers, up to a joiner, the choices or the end. */
  #operand(): Operand | undefined {
    const head = /'([^']*)'|"([^"]*)"|([A-Za-z]\w*)\.([A-Za-z]\w*)/y;
    head.lastIndex = this.#index;
    const found = head.exec(this.#text);
    if (found === null) return undefined;
    const [, single, double, section = '', name = ''] = found;
    const quoted = single ?? double;
    if (quoted === undefined && !isSection(section)) return undefined;
    const field: Field = quoted === undefined ? findField(section, name) : () => quoted;
    this.#index = head.lastIndex;
    const modifiers = this.#modifiers();
    const hasDefault = modifiers.some(({ source }) => /^default\(/i.test(source));
    const isPresent = (values: FormatValues): boolean => hasDefault || hasValue(field(values));
    return { value: (values) => modified(field(values), modifiers, values), isPresent };
  }

  #modifiers(): readonly CompiledModifier[] {
    const modifiers: CompiledModifier[] = [];
    while (this.#text.startsWith('::', this.#index) && this.#joiner() === undefined && this.#work.left > 0) {
      const source = new ModifierSource(this.#text, this.#index + 2);
      const text = readModifier(source);
      this.#index = source.index;
      this.#work.left -= text.length + modifierWork;
      const apply = compileModifier(text);
      if (apply !== undefined) modifiers.push({ source: text, apply });
    }
    return modifiers;
  }

  #joiner(): Joiner | undefined {
    const rest = this.#text.slice(this.#index, this.#index + 10).toLowerCase();
    return joiners.find((word) => rest.startsWith(`::${word}::`));
  }

  #chain(first: Operand): Operand | undefined {
    let result = first;
    for (let joiner = this.#joiner(); joiner !== undefined; joiner = this.#joiner()) {
      this.#index += joiner.length + 4;
      this.#skipSpaces();
      const next = this.#operand();
      if (next === undefined) return undefined;
      result = combined(joiner, result, next);
    }
    return result;
  }

  /**
   * Parses `["yes"||"no"||"absent"]`, which may contain expressions. Returns an empty list without choices, and
   * undefined for invalid ones.
   */
  #choices(): readonly (readonly Part[])[] | undefined {
    if (this.#text[this.#index] !== '[') return [];
    this.#index += 1;
    const choices: (readonly Part[])[] = [];
    for (;;) {
      const text = this.#branch();
      if (text === undefined) return undefined;
      choices.push(compileParts(text, this.#depth + 1, this.#work));
      if (!this.#text.startsWith('||', this.#index)) break;
      this.#index += 2;
    }
    if (this.#text[this.#index] !== ']' || choices.length > 3) return undefined;
    this.#index += 1;
    return choices;
  }

  /** Parses a quoted text. Quotes within braces do not end it. */
  #branch(): string | undefined {
    if (this.#text[this.#index] !== '"') return undefined;
    let text = '';
    let depth = 0;
    const start = this.#index + 1;
    this.#work.left -= Math.max(0, this.#text.indexOf('"', start) - start);
    for (let index = start; index < this.#text.length && this.#work.left > 0; index += 1) {
      this.#work.left -= 1;
      const letter = this.#text[index] ?? '';
      if (letter === '\\' && this.#text[index + 1] === '"') {
        text += '"';
        index += 1;
        continue;
      }
      if (letter === '"' && depth === 0) {
        this.#index = index + 1;
        return text;
      }
      if (letter === '{') depth += 1;
      else if (letter === '}') depth = Math.max(0, depth - 1);
      text += letter;
    }
    return undefined;
  }
}

/** Maps the index of each `{?` to the index of its end. */
function optionalEnds(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: edge, index } of text.matchAll(/\{\?|\?\}/g)) {
    if (edge === '{?') open.push(index);
    else {
      const start = open.pop();
      if (start !== undefined) ends.set(start, index);
    }
  }
  return ends;
}

interface CompiledModifier {
  readonly source: string;
  readonly apply: Modifier;
}

function modified(field: FieldValue, modifiers: readonly CompiledModifier[], values: FormatValues): FieldValue {
  let value = sanitized(field);
  for (const { apply } of modifiers) {
    const changed = apply(value, values);
    // Modifiers for another type of value have no effect.
    if (changed === undefined) continue;
    value = typeof changed === 'string' && changed.length > maxTextLength ? changed.slice(0, maxTextLength) : changed;
  }
  return value;
}

function sanitized(value: FieldValue): FieldValue {
  if (typeof value === 'string') return value.replaceAll(marks, '');
  if (!Array.isArray(value)) return value;
  return (value as readonly string[]).map((item) => item.replaceAll(marks, ''));
}

function combined(joiner: Joiner, one: Operand, other: Operand): Operand {
  const isPresent: Operand['isPresent'] =
    joiner === 'or'
      ? (values) => one.isPresent(values) || other.isPresent(values)
      : (values) => one.isPresent(values) && other.isPresent(values);
  const value: Operand['value'] = (values) => {
    const [left, right] = [one.value(values), other.value(values)];
    switch (joiner) {
      case 'and':
        return isTrue(left) ? right : left;
      case 'or':
        return isTrue(left) ? left : right;
      case 'xor':
        return isTrue(left) !== isTrue(right);
      case 'equal':
        return shown(left) === shown(right);
      case 'neq':
        return shown(left) !== shown(right);
      case 'left':
        return left;
      case 'right':
        return right;
    }
  };
  return { value, isPresent };
}

function chosen(value: FieldValue, choices: readonly (readonly Part[])[], values: FormatValues): string {
  const [whenTrue = [], whenFalse = [], whenAbsent = []] = choices;
  if (!hasValue(value)) return joined(whenAbsent, values);
  return joined(isTrue(value) ? whenTrue : whenFalse, values);
}

function isTrue(value: FieldValue): boolean {
  return hasValue(value) && value !== false && value !== 0;
}

function shown(value: FieldValue): string {
  if (value === null) return '';
  return Array.isArray(value) ? value.join(',') : String(value);
}
