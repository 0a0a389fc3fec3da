/** Parser that reports JSON syntax errors with the texts of Go: clients and their tests depend on them. */
class JsonErrorParser {
  readonly #text: string;
  #index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  findError(): string | undefined {
    return this.#value('looking for beginning of value') ?? this.#end();
  }

  #end(): string | undefined {
    this.#space();
    return this.#index < this.#text.length ? this.#invalidCharacter('after top-level value') : undefined;
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#index))) this.#index += 1;
  }

  #invalidCharacter(where: string): string {
    const match = this.#text.charAt(this.#index);
    if (match === '') return 'unexpected end of JSON input';
    const quoted = match === "'" ? String.raw`'\''` : `'${match < ' ' ? JSON.stringify(match).slice(1, -1) : match}'`;
    return `invalid character ${quoted} ${where}`;
  }

  #value(where: string): string | undefined {
    this.#space();
    const first = this.#text.charAt(this.#index);
    if (first === '{') return this.#list('}', true);
    if (first === '[') return this.#list(']', false);
    if (first === '"') return this.#string();
    if (first === '-' || /\d/.test(first)) return this.#number();
    const literal = { t: 'true', f: 'false', n: 'null' }[first];
    return literal === undefined ? this.#invalidCharacter(where) : this.#literal(literal);
  }

  #literal(literal: string): string | undefined {
    for (const letter of literal) {
      if (this.#text.charAt(this.#index) !== letter)
        return this.#invalidCharacter(`in literal ${literal} (expecting '${letter}')`);
      this.#index += 1;
    }
    return undefined;
  }

  #number(): string | undefined {
    const match = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/.exec(this.#text.slice(this.#index))?.[0];
    this.#index += match?.length ?? 1;
    return match === undefined ? this.#invalidCharacter('in numeric literal') : undefined;
  }

  #string(): string | undefined {
    this.#index += 1;
    for (;;) {
      const letter = this.#text.charAt(this.#index);
      if (letter === '' || letter < ' ') return this.#invalidCharacter('in string literal');
      this.#index += 1;
      if (letter === '"') return undefined;
      if (letter !== '\\') continue;
      const escape = /^(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/.exec(this.#text.slice(this.#index, this.#index + 5))?.[0];
      if (escape === undefined) return this.#invalidCharacter('in string escape code');
      this.#index += escape.length;
    }
  }

  #list(close: string, keyed: boolean): string | undefined {
    const element = keyed ? 'object key:value pair' : 'array element';
    this.#index += 1;
    this.#space();
    if (this.#text.charAt(this.#index) === close) return this.#step();
    for (;;) {
      const error = (keyed ? this.#key() : undefined) ?? this.#value('looking for beginning of value');
      if (error !== undefined) return error;
      this.#space();
      const next = this.#text.charAt(this.#index);
      if (next === close) return this.#step();
      if (next !== ',') return this.#invalidCharacter(`after ${element}`);
      this.#index += 1;
    }
  }

  #step(): undefined {
    this.#index += 1;
  }

  #key(): string | undefined {
    this.#space();
    if (this.#text.charAt(this.#index) !== '"')
      return this.#invalidCharacter('looking for beginning of object key string');
    const error = this.#string();
    if (error !== undefined) return error;
    this.#space();
    if (this.#text.charAt(this.#index) !== ':') return this.#invalidCharacter('after object key');
    return this.#step();
  }
}

/** Returns the error text of Go for invalid JSON. */
export function describeJsonError(text: string): string {
  // Deep nesting overflows the stack.
  try {
    return new JsonErrorParser(text).findError() ?? 'invalid JSON';
  } catch {
    return 'exceeded max depth';
  }
}
