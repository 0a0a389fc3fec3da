import type { ParsedStream } from './stream.ts';
import { getSearchText } from './stream-attributes.ts';

/** Returns a function that finds the first keyword in a name. Keywords match whole words with any separators. */
export function createKeywordTest(keywords: readonly string[]): (stream: ParsedStream) => string | undefined {
  const normalize = (text: string): string => ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}+]+/gu, ' ')} `;
  const normalizedKeywords = keywords
    .map((keyword) => [keyword, normalize(keyword)] as const)
    .filter(([, text]) => text.trim() !== '');
  return (stream) => {
    const text = normalize(getSearchText(stream));
    return normalizedKeywords.find(([, keyword]) => text.includes(keyword))?.[0];
  };
}
