import type { ParsedStream } from '../stream.ts';
import { searchedText } from './attributes.ts';

/** Returns a function that finds the first keyword in a name. Keywords match whole words with any separators. */
export function keywordTest(keywords: readonly string[]): (stream: ParsedStream) => string | undefined {
  const tidy = (text: string): string => ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}+]+/gu, ' ')} `;
  const wanted = keywords.map((keyword) => [keyword, tidy(keyword)] as const).filter(([, text]) => text.trim() !== '');
  return (stream) => {
    const text = tidy(searchedText(stream));
    return wanted.find(([, keyword]) => text.includes(keyword))?.[0];
  };
}
