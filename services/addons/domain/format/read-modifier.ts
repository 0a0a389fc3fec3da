/** Position in a template at which a modifier begins. */
export class ModifierSource {
  readonly text: string;
  index: number;

  constructor(text: string, index: number) {
    this.text = text;
    this.index = index;
  }
}

const call = /[A-Za-z]+\(/y;
/** Maximum length of the arguments of a modifier. */
const maxCallLength = 1000;

/**
 * Reads one modifier up to the next `::`, `[` or `}` outside of brackets and quotes. Quotes are only recognized in
 * calls, because a comparison such as `~director's` may contain one.
 */
export function readModifier(source: ModifierSource): string {
  const { text } = source;
  const start = source.index;
  call.lastIndex = start;
  const end = call.test(text) ? findCallEnd(text, call.lastIndex) : -1;
  source.index = end === -1 ? findModifierEnd(text, start) : end;
  return text.slice(start, source.index);
}

/** Returns the index after the bracket that closes the call, or -1. */
function findCallEnd(text: string, from: number): number {
  let depth = 1;
  let index = from;
  const limit = Math.min(text.length, from + maxCallLength);
  while (index < limit) {
    const letter = text[index] ?? '';
    const isQuote = letter === "'" || letter === '"';
    const closing = isQuote && depth === 1 && isArgumentStart(text, index) ? findQuoteEnd(text, index) : -1;
    if (closing !== -1) {
      index = closing;
      continue;
    }
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    index += 1;
    if (depth === 0) return index;
  }
  return -1;
}

function isArgumentStart(text: string, index: number): boolean {
  return /[(,\s]/.test(text[index - 1] ?? '');
}

/**
 * Returns the index after the closing quote, or -1. A quote ends only before the end of an argument, so that an
 * apostrophe within a word is part of the text.
 */
function findQuoteEnd(text: string, start: number): number {
  const quote = text[start] ?? '';
  const end = new RegExp(String.raw`${quote}(?=\s{0,20}[,)])`, 'g');
  end.lastIndex = start + 1;
  const match = end.exec(text.slice(0, start + maxCallLength));
  return match === null ? -1 : match.index + 1;
}

function findModifierEnd(text: string, start: number): number {
  let index = start;
  while (index < text.length && !/[}[\]]/.test(text[index] ?? '') && !text.startsWith('::', index)) index += 1;
  return index;
}
