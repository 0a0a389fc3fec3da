import { ScriptError } from './path.ts';

/** Value in a script: JSON values, with single or double quotes. */
export type Literal = string | number | boolean | null | readonly Literal[] | { readonly [name: string]: Literal };

const deepest = 20;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const refused = new Set(['__proto__', 'constructor', 'prototype']);
const plain = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const quoted = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'/y;

/**
 * Parses values that are separated by commas.
 *
 * @throws ScriptError
 */
export function readValues(text: string): readonly Literal[] {
  const reader = new LiteralReader(text);
  const values = [reader.value(0)];
  while (reader.takes(',')) values.push(reader.value(0));
  reader.end();
  return values;
}

/** Removes quotes from a text, if it has any. */
export function unquoted(text: string): string {
  quoted.lastIndex = 0;
  const found = quoted.exec(text);
  return found === null ? text : unescaped(found[1] ?? found[2] ?? '');
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_all, code: string | undefined, letter = '') =>
    code === undefined ? (escapes[String(letter)] ?? String(letter)) : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Literal {
    if (depth > deepest) throw new ScriptError('A value is nested too deep.');
    if (this.takes('[')) return this.#list(']', () => this.value(depth + 1));
    if (this.takes('{')) {
      const entries = this.#list('}', (): readonly [string, Literal] => {
        const name = this.#string() ?? this.#match(/[A-Za-z_]\w*/y);
        if (name === undefined || refused.has(name)) throw this.#unexpected();
        if (!this.takes(':')) throw this.#unexpected();
        return [name, this.value(depth + 1)];
      });
      return Object.fromEntries(entries);
    }
    const text = this.#string();
    if (text !== undefined) return text;
    const word = this.#match(plain);
    if (word === undefined) throw this.#unexpected();
    return JSON.parse(word) as Literal;
  }

  takes(sign: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  #list<Item>(end: string, item: () => Item): readonly Item[] {
    const items: Item[] = [];
    if (this.takes(end)) return items;
    do items.push(item());
    while (this.takes(','));
    if (!this.takes(end)) throw this.#unexpected();
    return items;
  }

  #string(): string | undefined {
    this.#space();
    quoted.lastIndex = this.#at;
    const found = quoted.exec(this.#text);
    if (found === null) return undefined;
    this.#at = quoted.lastIndex;
    return unescaped(found[1] ?? found[2] ?? '');
  }

  #match(form: RegExp): string | undefined {
    this.#space();
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0];
    if (found !== undefined) this.#at = form.lastIndex;
    return found;
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #unexpected(): ScriptError {
    const rest = this.#text.slice(this.#at, this.#at + 16);
    return new ScriptError(rest === '' ? 'A value is missing.' : `${JSON.stringify(rest)} cannot be read.`);
  }
}
