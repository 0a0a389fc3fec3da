import { decodeEncodedWords, decodeLatin1 } from '../../kit/charset.ts';

/**
 * Returns the text of a header as its sender meant it. Node hands over the bytes as latin1; clients send UTF-8, windows-1252
 * or encoded words (RFC 2047). NUL never passes.
 */
export function decodeHeader(value: string): string {
  return decodeEncodedWords(decodeLatin1(value)).replaceAll('\0', '').trim();
}

/** A `Priority` header of RFC 9218, which browsers and proxies add on their own; it is not meant for us. */
export function isTransportPriority(value: string): boolean {
  return /^u=\d(,\s*(i|\d))?$/.test(value.trim());
}
