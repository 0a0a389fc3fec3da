/** Maximum length of text that is not broken, so that it fits into a line on phones. */
const maxLength = 26;
// Break positions after separators of addresses and JSON, but not within `://`, a number, a port or a file name.
const breakPositions = /(?<=(?<!:\/)[/?&,;+](?!\/))|(?<=:)(?=["'[{])|(?<=\.)(?=https?:|[a-z]{5,}(?![\w:/.-]))/i;
/** Break positions at the dots of a long host name, so that its port is never alone on a line. */
const hostBreakPositions = /(?<=^\w+:\/\/[^/:]*\.)(?=[a-z][^/]*:\d+$)/i;

/** Splits a text at the positions where a line may break, so that addresses are not broken within a word. */
export function splitAtSeparators(text: string): readonly string[] {
  return [/(?<=\s)(?=\S)/, breakPositions, hostBreakPositions].reduce<readonly string[]>(
    (pieces, pattern) => pieces.flatMap((piece) => (isShort(piece) ? [piece] : piece.split(pattern))),
    [text],
  );
}

/** True for text that is not broken. */
export function isShort(piece: string): boolean {
  return piece.length <= maxLength;
}
