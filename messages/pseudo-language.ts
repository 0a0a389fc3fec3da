/**
 * Languages that exist only to test the pages: `en-XA` has accents and texts of 1.4 times the length, `ar-XB` is written
 * from right to left, and `ja-XC` has wide characters without spaces.
 */
export const pseudoLanguages = ['en-XA', 'ar-XB', 'ja-XC'] as const;

const accents = new Map(
  [...'AaCcEeGgIiLlNnOoRrSsTtUuYyZz'].map((letter, index) => [letter, [...'ÂàÇçÉëĜğÎïĻľÑñÖôŔřŠşŢťÜüÝÿŽž'][index]]),
);
const right = '\u202e';
const popFormatting = '\u202c';

/** Returns the function that turns a text into a pseudo-language; undefined for other languages. */
export function findPseudoTransform(language: string): ((text: string) => string) | undefined {
  if (language === 'en-XA') return lengthen;
  if (language === 'ar-XB') return (text) => text.replaceAll(/[A-Za-z]+/g, (word) => `${right}${word}${popFormatting}`);
  if (language === 'ja-XC') return (text) => text.replaceAll(/[A-Za-z]+ ?/g, toWide);
  return undefined;
}

/** Adds accents, and about 40 % more characters to each word, so that lines break as in a language with longer words. */
function lengthen(text: string): string {
  return text.replaceAll(/[A-Za-z]+/g, (word) => {
    const accented = [...word].map((letter) => accents.get(letter) ?? letter).join('');
    return word.length < 2 ? accented : `${accented}${'~'.repeat(Math.round(word.length * 0.4))}`;
  });
}

/** Replaces a word and the space after it by wide characters of about the same width. */
function toWide(word: string): string {
  return '語'.repeat(Math.max(1, Math.ceil(word.trim().length / 2)));
}
