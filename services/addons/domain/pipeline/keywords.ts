import type { ParsedStream } from '../stream.ts';
import { searchedText } from './attributes.ts';

/** Words that stand by themselves in a name, whatever separates them. */
export function keywordTest(keywords: readonly string[]): (stream: ParsedStream) => string | undefined {
  const tidy = (text: string): string => ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}+]+/gu, ' ')} `;
  const wanted = keywords.map((keyword) => [keyword, tidy(keyword)] as const).filter(([, text]) => text.trim() !== '');
  return (stream) => {
    const text = tidy(searchedText(stream));
    return wanted.find(([, keyword]) => text.includes(keyword))?.[0];
  };
}
