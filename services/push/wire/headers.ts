import { decodeEncodedWords, decodeLatin1 } from '../../kit/charset.ts';

/**
 * Decodes the text of a header. Node returns the bytes as latin1; clients send UTF-8, windows-1252 or encoded words
 * (RFC 2047). NUL characters are removed.
 */
export function decodeHeader(value: string): string {
  return decodeEncodedWords(decodeLatin1(value)).replaceAll('\0', '').trim();
}

/** Returns true for a `Priority` header of RFC 9218, which browsers and proxies add. */
export function isTransportPriority(value: string): boolean {
  return /^u=\d(,\s*(i|\d))?$/.test(value.trim());
}
