import { RestError } from '../errors.ts';

/** Reads a text of the query string from left to right. */
export class Cursor {
  readonly text: string;
  readonly #what: string;
  at = 0;

  /** `what` names the kind of text in errors: `filter`, `order`. */
  constructor(text: string, what: string) {
    this.text = text;
    this.#what = what;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  peek(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  /** Steps over `text` where it is next. */
  take(text: string): boolean {
    if (!this.peek(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Steps over what a sticky expression matches here. */
  match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  skipSpaces(): void {
    this.match(/\s*/y);
  }

  fail(expecting: string): never {
    const next = this.text.charAt(this.at);
    const unexpected = this.isAtEnd
      ? 'unexpected end of input'
      : `unexpected ${this.at === 0 ? `"${next}"` : `'${next}'`}`;
    throw new RestError(
      400,
      'PGRST100',
      `"failed to parse ${this.#what} (${this.text})" (line 1, column ${this.at + 1})`,
      {
        details: `${unexpected} expecting ${expecting}`,
      },
    );
  }

  expectEnd(expecting: string): void {
    if (!this.isAtEnd) this.fail(expecting);
  }
}
