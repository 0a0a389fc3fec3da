import * as m from '#messages/addons-problems';
import { ScriptError } from './path.ts';

/** Value in a script: JSON values, with single or double quotes. */
export type Literal = string | number | boolean | null | readonly Literal[] | { readonly [name: string]: Literal };

const maxDepth = 20;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const refusedNames = new Set(['__proto__', 'constructor', 'prototype']);
const literalPattern = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const quotedPattern = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'/y;

/**
 * Parses values that are separated by commas.
 *
 * @throws ScriptError
 */
export function parseValues(text: string): readonly Literal[] {
  const reader = new LiteralReader(text);
  const values = [reader.parseValue(0)];
  while (reader.accept(',')) values.push(reader.parseValue(0));
  reader.expectEnd();
  return values;
}

/** Removes quotes from a text, if it has any. */
export function unquote(text: string): string {
  quotedPattern.lastIndex = 0;
  const match = quotedPattern.exec(text);
  return match === null ? text : unescape(match[1] ?? match[2] ?? '');
}

function unescape(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_all, code: string | undefined, letter = '') =>
    code === undefined ? (escapes[String(letter)] ?? String(letter)) : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

class LiteralReader {
  readonly #text: string;
  #index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parseValue(depth: number): Literal {
    if (depth > maxDepth) throw new ScriptError(m.valueNested);
    if (this.accept('[')) return this.#parseList(']', () => this.parseValue(depth + 1));
    if (this.accept('{')) {
      const entries = this.#parseList('}', (): readonly [string, Literal] => {
        const name = this.#parseString() ?? this.#match(/[A-Za-z_]\w*/y);
        if (name === undefined || refusedNames.has(name)) throw this.#createError();
        if (!this.accept(':')) throw this.#createError();
        return [name, this.parseValue(depth + 1)];
      });
      return Object.fromEntries(entries);
    }
    const text = this.#parseString();
    if (text !== undefined) return text;
    const literalText = this.#match(literalPattern);
    if (literalText === undefined) throw this.#createError();
    return JSON.parse(literalText) as Literal;
  }

  accept(sign: string): boolean {
    this.#skipSpaces();
    if (this.#text[this.#index] !== sign) return false;
    this.#index += 1;
    return true;
  }

  expectEnd(): void {
    this.#skipSpaces();
    if (this.#index < this.#text.length) throw this.#createError();
  }

  #parseList<Item>(end: string, item: () => Item): readonly Item[] {
    const items: Item[] = [];
    if (this.accept(end)) return items;
    do items.push(item());
    while (this.accept(','));
    if (!this.accept(end)) throw this.#createError();
    return items;
  }

  #parseString(): string | undefined {
    this.#skipSpaces();
    quotedPattern.lastIndex = this.#index;
    const match = quotedPattern.exec(this.#text);
    if (match === null) return undefined;
    this.#index = quotedPattern.lastIndex;
    return unescape(match[1] ?? match[2] ?? '');
  }

  #match(pattern: RegExp): string | undefined {
    this.#skipSpaces();
    pattern.lastIndex = this.#index;
    const match = pattern.exec(this.#text)?.[0];
    if (match !== undefined) this.#index = pattern.lastIndex;
    return match;
  }

  #skipSpaces(): void {
    while (/\s/.test(this.#text[this.#index] ?? '')) this.#index += 1;
  }

  #createError(): ScriptError {
    const rest = this.#text.slice(this.#index, this.#index + 16);
    return new ScriptError(rest === '' ? m.valueMissing : () => m.textInvalid({ text: rest }));
  }
}
