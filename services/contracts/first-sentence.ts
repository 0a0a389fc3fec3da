/** Returns the first sentence of a text with its punctuation; undefined when there is none. */
export function firstSentence(text: string): string | undefined {
  return /^.*?[.?!](?= |$)/s.exec(text)?.[0];
}
