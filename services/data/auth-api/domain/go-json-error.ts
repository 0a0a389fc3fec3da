/** Parser that reports JSON syntax errors with the texts of Go: clients and their tests depend on them. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  complaint(): string | undefined {
    return this.#value('looking for beginning of value') ?? this.#end();
  }

  #end(): string | undefined {
    this.#space();
    return this.#at < this.#text.length ? this.#wrong('after top-level value') : undefined;
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at += 1;
  }

  #wrong(where: string): string {
    const found = this.#text.charAt(this.#at);
    if (found === '') return 'unexpected end of JSON input';
    const shown = found === "'" ? String.raw`'\''` : `'${found < ' ' ? JSON.stringify(found).slice(1, -1) : found}'`;
    return `invalid character ${shown} ${where}`;
  }

  #value(where: string): string | undefined {
    this.#space();
    const first = this.#text.charAt(this.#at);
    if (first === '{') return this.#list('}', true);
    if (first === '[') return this.#list(']', false);
    if (first === '"') return this.#string();
    if (first === '-' || /\d/.test(first)) return this.#number();
    const word = { t: 'true', f: 'false', n: 'null' }[first];
    return word === undefined ? this.#wrong(where) : this.#word(word);
  }

  #word(word: string): string | undefined {
    for (const letter of word) {
      if (this.#text.charAt(this.#at) !== letter) return this.#wrong(`in literal ${word} (expecting '${letter}')`);
      this.#at += 1;
    }
    return undefined;
  }

  #number(): string | undefined {
    const found = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/.exec(this.#text.slice(this.#at))?.[0];
    this.#at += found?.length ?? 1;
    return found === undefined ? this.#wrong('in numeric literal') : undefined;
  }

  #string(): string | undefined {
    this.#at += 1;
    for (;;) {
      const letter = this.#text.charAt(this.#at);
      if (letter === '' || letter < ' ') return this.#wrong('in string literal');
      this.#at += 1;
      if (letter === '"') return undefined;
      if (letter !== '\\') continue;
      const escape = /^(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/.exec(this.#text.slice(this.#at, this.#at + 5))?.[0];
      if (escape === undefined) return this.#wrong('in string escape code');
      this.#at += escape.length;
    }
  }

  #list(close: string, keyed: boolean): string | undefined {
    const what = keyed ? 'object key:value pair' : 'array element';
    this.#at += 1;
    this.#space();
    if (this.#text.charAt(this.#at) === close) return this.#step();
    for (;;) {
      const bad = (keyed ? this.#key() : undefined) ?? this.#value('looking for beginning of value');
      if (bad !== undefined) return bad;
      this.#space();
      const next = this.#text.charAt(this.#at);
      if (next === close) return this.#step();
      if (next !== ',') return this.#wrong(`after ${what}`);
      this.#at += 1;
    }
  }

  #step(): undefined {
    this.#at += 1;
  }

  #key(): string | undefined {
    this.#space();
    if (this.#text.charAt(this.#at) !== '"') return this.#wrong('looking for beginning of object key string');
    const bad = this.#string();
    if (bad !== undefined) return bad;
    this.#space();
    if (this.#text.charAt(this.#at) !== ':') return this.#wrong('after object key');
    return this.#step();
  }
}

/** Returns the error text of Go for invalid JSON. */
export function jsonComplaint(text: string): string {
  // Deep nesting overflows the stack.
  try {
    return new Reader(text).complaint() ?? 'invalid JSON';
  } catch {
    return 'exceeded max depth';
  }
}
