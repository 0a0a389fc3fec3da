import { isUtf8 } from 'node:buffer';
import { declaredCharset, decodeEncodedWords, decodeLatin1, decodeText } from '../../kit/charset.ts';

/** Section between two boundaries: header and body as latin1. */
interface Part {
  readonly header: string;
  readonly separator: string;
  readonly body: string;
}

const boundaryParameter = /;\s*boundary\s*=\s*(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))/gi;
const maxBoundaries = 100;

function findBoundaries(source: string): ReadonlySet<string> {
  const matches = [...source.matchAll(boundaryParameter)].slice(0, maxBoundaries);
  return new Set(matches.map(([, quoted, unquoted]) => quoted ?? unquoted ?? ''));
}

/** Splits a source at its boundary lines, each of which is a separate item with its line end. */
function splitAtBoundaries(source: string): readonly string[] {
  const boundaries = findBoundaries(source);
  if (boundaries.size === 0) return [source];
  const pieces: string[] = [];
  let start = 0;
  for (let index = source.indexOf('\n--'); index !== -1; index = source.indexOf('\n--', index + 1)) {
    const end = source.indexOf('\n', index + 1);
    const line = source.slice(index + 3, Math.min(end === -1 ? source.length : end, index + 300)).trimEnd();
    if (!boundaries.has(line) && !(line.endsWith('--') && boundaries.has(line.slice(0, -2)))) continue;
    const next = end === -1 ? source.length : end + 1;
    // The line break before a boundary is part of it.
    const boundaryStart = source[index - 1] === '\r' ? index - 1 : index;
    pieces.push(source.slice(start, boundaryStart), source.slice(boundaryStart, next));
    start = next;
  }
  return [...pieces, source.slice(start)];
}

function splitHeader(piece: string): Part {
  const match = /\r?\n\r?\n/.exec(piece);
  const first = /^\r?\n/.exec(piece)?.[0];
  if (first !== undefined) return { header: '', separator: first, body: piece.slice(first.length) };
  if (match === null) return { header: piece, separator: '', body: '' };
  const { index, 0: separator } = match;
  return { header: piece.slice(0, index), separator, body: piece.slice(index + separator.length) };
}

/** Returns the unfolded value of a field; empty without field. */
export function getField(header: string, name: string): string {
  const pattern = new RegExp(`^${name}[ \\t]*:([^\\r\\n]*(?:\\r?\\n[ \\t][^\\r\\n]*)*)`, 'im');
  return (pattern.exec(header)?.[1] ?? '').replace(/\r?\n(?=[ \t])/g, '').trim();
}

function decodeQuotedPrintable(body: string): Buffer {
  const text = body
    .replace(/[ \t]+(?=\r?$)/gm, '')
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(text, 'latin1');
}

/** Decodes a body; undefined when it does not match its declared encoding. */
function decodeTransfer(body: string, encoding: string): Buffer | undefined {
  if (/^quoted-printable/i.test(encoding)) return decodeQuotedPrintable(body);
  if (!/^base64/i.test(encoding)) return Buffer.from(body, 'latin1');
  return /[^A-Za-z0-9+/=\s]/.test(body) ? undefined : Buffer.from(body, 'base64');
}

function encodeBase64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\r\n');
}

/** Replaces or adds a header field. */
function setField(header: string, name: string, value: string): string {
  const pattern = new RegExp(`^${name}[ \\t]*:[^\\r\\n]*(?:\\r?\\n[ \\t][^\\r\\n]*)*`, 'im');
  const field = `${name}: ${value}`;
  return pattern.test(header)
    ? header.replace(pattern, () => field)
    : `${header}${header === '' ? '' : '\r\n'}${field}`;
}

/** Charsets that programs declare without looking at their text. */
const meaninglessCharset = /^(?:us-ascii|ascii|ansi_x3\.4-\w+|unknown-8bit|x-unknown|unknown)$/i;

/** Returns the charset that the beginning of an HTML text declares, as browsers read it. */
function declaredInHtml(type: string, bytes: Uint8Array): string | undefined {
  if (!/^text\/html\b/i.test(type)) return undefined;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 2048)).toString('latin1');
  return /<meta\s[^>]{0,500}?\bcharset\s*=\s*["']?([\w.:-]{1,40})/i.exec(head)?.[1];
}

/** Converts a text part to UTF-8 in base64 when a reader would decode it differently because of its label. */
function correctPart({ header, separator, body }: Part): string {
  const type = getField(header, 'content-type');
  const unchanged = `${header}${separator}${body}`;
  const isText = type === '' || /^text\/(?:plain|html)\b/i.test(type);
  if (!isText || /^\s*attachment/i.test(getField(header, 'content-disposition'))) return unchanged;
  const bytes = decodeTransfer(body, getField(header, 'content-transfer-encoding'));
  if (bytes === undefined) return unchanged;
  const declared = declaredCharset(`;${type}`);
  const charset =
    declared === undefined || meaninglessCharset.test(declared) ? (declaredInHtml(type, bytes) ?? declared) : declared;
  const isUndeclared = charset === undefined || /^utf-?8$/i.test(charset);
  if (isUndeclared && isUtf8(bytes)) return unchanged;
  const typeWithoutCharset = (type === '' ? 'text/plain' : type).replace(
    /;\s*charset\s*=\s*(?:"[^"]*"|[^\s;"]+)/gi,
    '',
  );
  const typed = setField(header, 'Content-Type', `${typeWithoutCharset}; charset=utf-8`);
  const encoded = setField(typed, 'Content-Transfer-Encoding', 'base64');
  return `${encoded}${separator.length > 2 ? separator : '\r\n\r\n'}${encodeBase64(decodeText(bytes, charset))}`;
}

/** Converts header fields to UTF-8, including encoded words whose label does not match their bytes. */
function correctHeader(header: string, charset: string | undefined): string {
  if (!/[\x80-\xff]|=\?/.test(header)) return header;
  return header.replace(/^[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gm, (field) => {
    const text = decodeLatin1(field, charset);
    const decoded = text.replace(/=\?[^?\s]+\?[bq]\?[^?]*\?=(?:\s+=\?[^?\s]+\?[bq]\?[^?]*\?=)*/gi, (encodedWords) =>
      /^=\?utf-8\?/i.test(encodedWords) ? encodedWords : encodeWord(encodedWords),
    );
    return Buffer.from(decoded).toString('latin1');
  });
}

function encodeWord(encodedWords: string): string {
  const text = decodeEncodedWords(encodedWords);
  return text.includes('=?') ? encodedWords : `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
}

/**
 * Returns the source with all text in UTF-8: bodies, header fields and file names, decoded by {@link decodeText}.
 * Attached files are not changed.
 */
export function correctCharsets(raw: Uint8Array): Uint8Array {
  const source = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const charset = declaredCharset(/;\s*charset\s*=\s*"?(?!utf-?8\b)[^\s;"]+/i.exec(source)?.[0]);
  const pieces = splitAtBoundaries(source).map((piece, index) => {
    // Every second piece is a boundary line.
    if (index % 2 === 1) return piece;
    const part = splitHeader(piece);
    return correctPart({ ...part, header: correctHeader(part.header, charset) });
  });
  return Buffer.from(pieces.join(''), 'latin1');
}
