import { decodeWords } from 'postal-mime';
import { decodeLoosely } from './parse.ts';

/** Characters of a subject that are kept. */
const longest = 500;

/** The subject in a header of single bytes (latin1), as a person reads it; empty where there is none. */
export function subjectIn(header: string): string {
  const field = /^subject[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/im.exec(header)?.[1] ?? '';
  const text = decodeLoosely(Buffer.from(field.slice(0, 16 * longest), 'latin1'));
  return decodeWords(text.replace(/\r?\n(?=[ \t])/g, ''))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longest);
}
