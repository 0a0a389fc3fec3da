import { isUtf8 } from 'node:buffer';
import PostalMime, { decodeWords, type Email } from 'postal-mime';
import { bodyLimit, type MailFile, type ParsedMail } from '../domain/mail.ts';
import { isWhole } from './abridge.ts';
import { nameOf } from './file-name.ts';

/** Bounds for mails made to hurt: parts within parts, and bytes of all headers together. */
const limits = { maxNestingDepth: 40, maxHeadersSize: 256 * 1024, forceRfc822Attachments: true };
/** Of an unreadable mail this much is shown. */
const sourceLimit = 64 * 1024;

const asLatin = new TextDecoder('windows-1252');
const asUtf8 = new TextDecoder('utf-8');

/** Text of bytes whose charset nobody declared: UTF-8 where it is valid, else what Western systems send. */
export function decodeLoosely(raw: Uint8Array): string {
  return isUtf8(raw) ? asUtf8.decode(raw) : asLatin.decode(raw);
}

/** Where the body begins: behind the first empty line, or at the start of a text without any header. */
function bodyStart(raw: Uint8Array): number {
  const view = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const crlf = view.indexOf('\r\n\r\n');
  const lf = view.indexOf('\n\n');
  if (crlf === -1 && lf === -1) return raw.length;
  if (crlf !== -1 && (lf === -1 || crlf < lf)) return crlf + 4;
  return lf + 2;
}

/** A first line that is no header field (RFC 5322, 2.2) means that the client sent no header at all. */
function hasHeader(raw: Uint8Array): boolean {
  return /^(?:From |[\x21-\x39\x3b-\x7e]+[ \t]*:)/.test(asLatin.decode(raw.subarray(0, 1000)));
}

/** Base64 that holds other characters than base64 does is text somebody mislabelled. */
function isMislabelled(email: Email, source: string): boolean {
  const header = (name: string): string => email.headers.find(({ key }) => key === name)?.value ?? '';
  return (
    /^\s*base64/i.test(header('content-transfer-encoding')) &&
    !/^\s*(multipart|image|audio|video|application)\//i.test(header('content-type')) &&
    /[^A-Za-z0-9+/=\s]/.test(source)
  );
}

/**
 * Undeclared 8-bit text that is not UTF-8 comes out as replacement marks. Where no part declares a charset the whole
 * source can be read as windows-1252 instead.
 */
function needsRecoding(raw: Uint8Array, email: Email): boolean {
  const shown = `${email.subject ?? ''}${email.text ?? ''}${email.html ?? ''}`;
  if (!shown.includes('\ufffd')) return false;
  return !isUtf8(raw) && !/charset\s*=/i.test(asLatin.decode(raw));
}

/** A comment behind the address (`root@host (Cron Daemon)`) is for machines of old. */
function withoutComment(from: string): string {
  const text = from.trimEnd();
  const open = text.lastIndexOf('(');
  return open === -1 || text.indexOf(')', open) !== text.length - 1 ? text : text.slice(0, open).trimEnd();
}

/** No more than is ever shown, with one character over as the sign that there was more: the rest would only take room. */
function shown(text: string | undefined): string | undefined {
  return text?.slice(0, bodyLimit + 1);
}

function fileOf({ filename, mimeType, content }: Email['attachments'][number], index: number, cut: boolean): MailFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
  // Half a file is worse than none: only its name is told then.
  const whole = !cut || isWhole(bytes.length);
  return {
    name: filename ?? nameOf(mimeType, index),
    type: mimeType,
    size: bytes.length,
    bytes: whole ? bytes : undefined,
  };
}

function hopsOf(header: string | undefined): { readonly hops?: number } {
  const [, hops] = /^\s*(\d{1,3})\s*$/.exec(header ?? '') ?? [];
  return hops === undefined ? {} : { hops: Number(hops) };
}

function describe(email: Email, source: string, cut: boolean): ParsedMail {
  const header = (name: string): string | undefined => email.headers.find(({ key }) => key === name)?.value;
  const from = header('from');
  const mislabelled = isMislabelled(email, source);
  return {
    subject: email.subject,
    from: from === undefined ? undefined : withoutComment(decodeWords(from)),
    text: mislabelled ? source : shown(email.text),
    html: mislabelled ? undefined : shown(email.html),
    attachments: email.attachments.map((part, index) => fileOf(part, index, cut)),
    ...hopsOf(header('x-notify-hop')),
    urgent: /^\s*[12]\b/.test(header('x-priority') ?? '') || /^\s*high\b/i.test(header('importance') ?? ''),
    source,
  };
}

/** Reads a mail however broken it is; what cannot be made out is shown as it came. `cut`: {@link abridge} took something out. */
export async function parseMail(raw: Uint8Array, cut = false): Promise<ParsedMail> {
  const headed = hasHeader(raw);
  const start = headed ? bodyStart(raw) : 0;
  const source = decodeLoosely(raw.subarray(start, start + sourceLimit));
  const plain = {
    subject: undefined,
    from: undefined,
    text: source,
    html: undefined,
    attachments: [],
    urgent: false,
    source,
  };
  if (!headed) return plain;
  try {
    const email = await PostalMime.parse(raw, limits);
    if (!needsRecoding(raw, email)) return describe(email, source, cut);
    return describe(await PostalMime.parse(asLatin.decode(raw), limits), source, cut);
  } catch (error) {
    // The parser throws for nothing but its limits; such a mail still has something to say.
    if (!(error instanceof Error)) throw error;
    return { ...plain, text: decodeLoosely(raw.subarray(0, sourceLimit)) };
  }
}
