import * as m from '#messages/parts';

/** Joins sentences as the language does, with or without a space. Empty ones are left out. */
export function joinSentences(...sentences: readonly string[]): string {
  const filled = sentences.filter((sentence) => sentence !== '');
  return filled.length === 0 ? '' : filled.reduce((first, second) => m.twoSentences({ first, second }));
}
