import { decodeEncodedWords, decodeLatin1, declaredCharset } from '../../kit/charset.ts';

/** Maximum number of characters of a stored subject. */
const maxSubjectLength = 500;

/** Returns the decoded subject of a latin1 header; empty without one. */
export function parseSubject(header: string): string {
  const field = /^subject[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/im.exec(header)?.[1] ?? '';
  const text = decodeLatin1(field.slice(0, 16 * maxSubjectLength), declaredCharset(header));
  return decodeEncodedWords(text.replace(/\r?\n(?=[ \t])/g, ''))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, maxSubjectLength);
}
