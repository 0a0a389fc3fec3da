import { decodeEncodedWords, decodeLatin1, declaredCharset } from '../../kit/charset.ts';

/** Characters of a subject that are kept. */
const longest = 500;

/** The subject in a header of single bytes (latin1), as a person reads it; empty where there is none. */
export function subjectIn(header: string): string {
  const field = /^subject[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/im.exec(header)?.[1] ?? '';
  const text = decodeLatin1(field.slice(0, 16 * longest), declaredCharset(header));
  return decodeEncodedWords(text.replace(/\r?\n(?=[ \t])/g, ''))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longest);
}
