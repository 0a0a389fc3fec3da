import { bytesOfRune, runesOf } from '../bytes.ts';

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const letters: Readonly<Record<number, string>> = { 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r' };

export function isPrintable(rune: number): boolean {
  return printable.test(String.fromCodePoint(rune));
}

/** A Go string literal of the bytes; `ascii` spells out all that is not, `mark` is the quote around it. */
export function quote(
  bytes: string,
  { ascii = false, mark = '"' }: { ascii?: boolean; mark?: '"' | "'" } = {},
): string {
  let quoted = mark as string;
  for (const { rune, at, size } of runesOf(bytes)) {
    const wrong = rune === 0xfffd && size === 1;
    const letter = letters[rune];
    if (wrong) quoted += `\\x${hex(bytes.charCodeAt(at), 2)}`;
    else if (rune === mark.charCodeAt(0) || rune === 0x5c) quoted += `\\${bytes.charAt(at)}`;
    else if (rune < 0x80 ? rune >= 0x20 && rune < 0x7f : !ascii && isPrintable(rune))
      quoted += bytes.slice(at, at + size);
    else if (letter !== undefined) quoted += `\\${letter}`;
    else if (rune < 0x80) quoted += `\\x${hex(rune, 2)}`;
    else quoted += rune < 0x10000 ? `\\u${hex(rune, 4)}` : `\\U${hex(rune, 8)}`;
  }
  return quoted + mark;
}

export function quoteRune(rune: bigint, ascii: boolean): string {
  return quote(bytesOfRune(rune < 0n || rune > 0x10ffffn ? 0xfffd : Number(rune)), { ascii, mark: "'" });
}

/** It may stand between back quotes: one line, no back quote and no control characters. */
export function fitsBackQuotes(bytes: string): boolean {
  for (const { rune, size } of runesOf(bytes)) {
    if ((rune === 0xfffd && size === 1) || rune === 0xfeff || rune === 0x60 || rune === 0x7f) return false;
    if (rune < 0x20 && rune !== 9) return false;
  }
  return true;
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0');
}
