import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

/** Charsets whose text looks like ASCII although it is not, so that the bytes alone do not reveal it. */
const sevenBit = /^(?:utf-?7|unicode-1-1-utf-7|iso-?2022|csiso2022|hz|utf-?16|utf-?32|ucs-?[24]|iso-10646|unicode)/;
/** Multi-byte charsets of East Asia, a few characters of which can be valid UTF-8 by chance. */
const eastAsian = /^(?:gb|x-gbk|chinese|csgb|big5|cn-big5|shift|sjis|ms_kanji|windows-31j|x-sjis|euc|ks_c|korean|cp9)/;

const utf8 = new TextDecoder('utf-8');
const windows1252 = new TextDecoder('windows-1252');

function normalize(label: string | undefined): string {
  return (
    label
      ?.trim()
      .replace(/^["']|["']$/g, '')
      .toLowerCase() ?? ''
  );
}

/** Returns a decoder for a charset label, or undefined when the label is not known. */
function findDecoder(label: string): ((bytes: Uint8Array) => string) | undefined {
  if (label === '') return undefined;
  try {
    const decoder = new TextDecoder(label);
    return (bytes) => decoder.decode(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  if (!iconv.encodingExists(label)) return undefined;
  return (bytes) => iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), label);
}

/** Returns true when a charset label is known, or is one of the labels that mean "unknown". */
export function isKnownCharset(label: string): boolean {
  const normalized = normalize(label);
  return /^(?:unknown-8bit|x-unknown|unknown)$/.test(normalized) || findDecoder(normalized) !== undefined;
}

/** Returns the text of bytes that begin with a byte order mark; undefined for all others. */
function decodeMarked(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return isUtf8(bytes) ? utf8.decode(bytes) : windows1252.decode(bytes.subarray(3));
  }
  const label = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : '';
  if (label === '' || bytes.length % 2 !== 0) return undefined;
  const text = new TextDecoder(label).decode(bytes);
  // Windows-1252 text may begin with the same two letters; as UTF-16 it would be full of unassigned characters.
  return /[\ufffd\p{Cn}\0]/u.test(text) ? undefined : text;
}

function isUtf8DespiteLabel(bytes: Uint8Array, label: string): boolean {
  if (sevenBit.test(label) || !isUtf8(bytes)) return false;
  // Valid by chance, East Asian text consists of two-byte sequences only, which encode characters below U+0800.
  return !eastAsian.test(label) || bytes.some((byte) => byte >= 0xe0) || bytes.every((byte) => byte < 0x80);
}

/** Returns the charset that text without a byte order mark is in: UTF-8 where it is valid, else as declared, else windows-1252. */
export function detectCharset(bytes: Uint8Array, declared?: string): string {
  const label = normalize(declared);
  if (isUtf8DespiteLabel(bytes, label)) return 'utf-8';
  // What is declared as UTF-8 and is not valid UTF-8 was written by a program that never converted it.
  if (/^(?:utf-?8|unicode-1-1-utf-8|x-unicode20utf8)$/.test(label)) return 'windows-1252';
  return findDecoder(label) === undefined ? 'windows-1252' : label;
}

/** Decodes bytes in the charset that {@link detectCharset} returned. */
export function decodeAs(bytes: Uint8Array, charset: string): string {
  return (findDecoder(charset) ?? ((each: Uint8Array) => windows1252.decode(each)))(bytes);
}

/**
 * Decodes text of other systems, which declare charsets wrongly or not at all. This order holds everywhere in Homeport: byte
 * order mark, UTF-8 where the bytes are valid UTF-8, the declared charset, windows-1252.
 */
export function decodeText(bytes: Uint8Array, charset?: string): string {
  return decodeMarked(bytes) ?? decodeAs(bytes, detectCharset(bytes, charset));
}

/** Decodes bytes that were read as latin1, as Node does with headers; other text is returned unchanged. */
export function decodeLatin1(text: string, charset?: string): string {
  return !/[\x80-\xff]/.test(text) || /[\u0100-\uffff]/.test(text)
    ? text
    : decodeText(Buffer.from(text, 'latin1'), charset);
}

/** Returns the charset that a Content-Type declares; undefined where it declares none. */
export function declaredCharset(contentType: string | undefined): string | undefined {
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType ?? '') ?? [];
  return quoted ?? bare;
}

const encodedWord = /=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bq])\?([^?]*)\?=/gi;
/** Words that follow each other are decoded together, as a character may be divided between two. */
const encodedWordPattern = /=\?[^?\s]+\?[bq]\?[^?]*\?=(?:\s+=\?[^?\s]+\?[bq]\?[^?]*\?=)*/gi;

function decodeBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function decodeQuoted(text: string): Buffer | undefined {
  if (/=(?![0-9a-f]{2})/i.test(text)) return undefined;
  const unescaped = text
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return /[\u0100-\uffff]/.test(unescaped) ? Buffer.from(unescaped) : Buffer.from(unescaped, 'latin1');
}

/** Decodes one run of encoded words. A word that does not match its declared encoding is unchanged. */
function decodeRun(run: string): string {
  const chunks: (string | { readonly charset: string; bytes: Buffer })[] = [];
  for (const [word, charset = '', encoding = '', encoded = ''] of run.matchAll(encodedWord)) {
    const bytes = encoding.toLowerCase() === 'b' ? decodeBase64(encoded) : decodeQuoted(encoded);
    const last = chunks.at(-1);
    if (bytes === undefined || !isKnownCharset(charset)) chunks.push(word);
    else if (typeof last === 'object' && last.charset.toLowerCase() === charset.toLowerCase()) {
      last.bytes = Buffer.concat([last.bytes, bytes]);
    } else chunks.push({ charset, bytes });
  }
  return chunks.map((part) => (typeof part === 'string' ? part : decodeText(part.bytes, part.charset))).join('');
}

/** Decodes the encoded words of a header (RFC 2047). */
export function decodeEncodedWords(text: string): string {
  return text.includes('=?') ? text.replace(encodedWordPattern, decodeRun) : text;
}
