/** Shorter words go to the next line whole, also on a phone. */
const longest = 26;
// After the marks of an address and of JSON, but not within `://`, a number, a port or the name of a file.
const places = /(?<=(?<!:\/)[/?&,;+](?!\/))|(?<=:)(?=["'[{])|(?<=\.)(?=https?:|[a-z]{5,}(?![\w:/.-]))/i;
/** At the points of a host that is too long: so its port is never alone. */
const hostPlaces = /(?<=^\w+:\/\/[^/:]*\.)(?=[a-z][^/]*:\d+$)/i;

/** A text in pieces between which a line may break, so that an address is not cut in the middle of a word. */
export function breakable(text: string): readonly string[] {
  return [/(?<=\s)(?=\S)/, places, hostPlaces].reduce<readonly string[]>(
    (pieces, at) => pieces.flatMap((piece) => (isShort(piece) ? [piece] : piece.split(at))),
    [text],
  );
}

/** It stays whole: a line of a phone has room for it. */
export function isShort(piece: string): boolean {
  return piece.length <= longest;
}
