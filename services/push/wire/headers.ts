/**
 * The text of a header as its sender meant it. Node hands over the bytes as latin1; clients send UTF-8, plain or as RFC
 * 2047 encoded words. NUL never passes.
 */
export function decodeHeader(value: string): string {
  let text = value;
  if (/[\u0080-\u00ff]/.test(text)) text = Buffer.from(text, 'latin1').toString('utf8');
  if (text.includes('=?')) text = decodeWords(text);
  return text.replaceAll('\0', '').trim();
}

const word = /=\?([^?\s]+)\?([bq])\?([^?\s]*)\?=/gi;

function decodeWords(text: string): string {
  // White space between two encoded words is part of neither (RFC 2047, section 6.2).
  return text.replace(/(\?=)\s+(?==\?[^?\s]+\?[bq]\?)/gi, '$1').replace(word, decodeWord);
}

/** A word that is not encoded as it says, or in characters that nobody knows, stays as it stands, as at the peer. */
function decodeWord(whole: string, charset: string, encoding: string, encoded: string): string {
  const bytes = encoding.toLowerCase() === 'b' ? bytesOfBase64(encoded) : bytesOfQuoted(encoded);
  if (bytes === undefined) return whole;
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A character set that nobody knows.
    return whole;
  }
}

function bytesOfBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function bytesOfQuoted(text: string): Buffer | undefined {
  if (/=(?![0-9a-f]{2})/i.test(text)) return undefined;
  const plain = text
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(plain, 'latin1');
}

/** A `Priority` header of RFC 9218, which browsers and proxies add on their own; it is not meant for us. */
export function isTransportPriority(value: string): boolean {
  return /^u=\d(,\s*(i|\d))?$/.test(value.trim());
}
