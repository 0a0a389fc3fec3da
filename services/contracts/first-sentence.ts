/** The first sentence of a text, with its end: what a line has room for. Undefined where it has none. */
export function firstSentence(text: string): string | undefined {
  return /^.*?[.?!](?= |$)/s.exec(text)?.[0];
}
