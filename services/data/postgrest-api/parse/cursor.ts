import { RestError } from '../errors.ts';

/** Parser position in a text of the query string. */
export class Cursor {
  readonly text: string;
  readonly #subject: string;
  index = 0;

  /** @param subject kind of text for error messages: `filter`, `order` */
  constructor(text: string, subject: string) {
    this.text = text;
    this.#subject = subject;
  }

  get isAtEnd(): boolean {
    return this.index >= this.text.length;
  }

  peek(text: string): boolean {
    return this.text.startsWith(text, this.index);
  }

  /** Consumes `text` when it is next. */
  take(text: string): boolean {
    if (!this.peek(text)) return false;
    this.index += text.length;
    return true;
  }

  /** Consumes and returns the match of a sticky expression. */
  match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.index;
    const matched = sticky.exec(this.text)?.[0];
    if (matched !== undefined) this.index += matched.length;
    return matched;
  }

  skipSpaces(): void {
    this.match(/\s*/y);
  }

  fail(expecting: string): never {
    const next = this.text.charAt(this.index);
    const unexpected = this.isAtEnd
      ? 'unexpected end of input'
      : `unexpected ${this.index === 0 ? `"${next}"` : `'${next}'`}`;
    throw new RestError(
      400,
      'PGRST100',
      `"failed to parse ${this.#subject} (${this.text})" (line 1, column ${this.index + 1})`,
      {
        details: `${unexpected} expecting ${expecting}`,
      },
    );
  }

  expectEnd(expecting: string): void {
    if (!this.isAtEnd) this.fail(expecting);
  }
}
