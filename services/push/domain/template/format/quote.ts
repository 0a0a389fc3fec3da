import { encodeRune, iterateRunes } from '../bytes.ts';

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const shortEscapes: Readonly<Record<number, string>> = { 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r' };

export function isPrintable(rune: number): boolean {
  return printable.test(String.fromCodePoint(rune));
}

/** Quotes bytes as a Go string literal; `ascii` escapes all other characters, `mark` is the quote character. */
export function quote(
  bytes: string,
  { ascii = false, mark = '"' }: { ascii?: boolean; mark?: '"' | "'" } = {},
): string {
  let quoted = mark as string;
  for (const { rune, index, size } of iterateRunes(bytes)) {
    const isInvalid = rune === 0xfffd && size === 1;
    const shortEscape = shortEscapes[rune];
    if (isInvalid) quoted += `\\x${formatHex(bytes.charCodeAt(index), 2)}`;
    else if (rune === mark.charCodeAt(0) || rune === 0x5c) quoted += `\\${bytes.charAt(index)}`;
    else if (rune < 0x80 ? rune >= 0x20 && rune < 0x7f : !ascii && isPrintable(rune))
      quoted += bytes.slice(index, index + size);
    else if (shortEscape !== undefined) quoted += `\\${shortEscape}`;
    else if (rune < 0x80) quoted += `\\x${formatHex(rune, 2)}`;
    else quoted += rune < 0x10000 ? `\\u${formatHex(rune, 4)}` : `\\U${formatHex(rune, 8)}`;
  }
  return quoted + mark;
}

export function quoteRune(rune: bigint, ascii: boolean): string {
  return quote(encodeRune(rune < 0n || rune > 0x10ffffn ? 0xfffd : Number(rune)), { ascii, mark: "'" });
}

/** Returns true when the text can be written in back quotes: one line without back quotes and control characters. */
export function canUseBackQuotes(bytes: string): boolean {
  for (const { rune, size } of iterateRunes(bytes)) {
    if ((rune === 0xfffd && size === 1) || rune === 0xfeff || rune === 0x60 || rune === 0x7f) return false;
    if (rune < 0x20 && rune !== 9) return false;
  }
  return true;
}

function formatHex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0');
}
