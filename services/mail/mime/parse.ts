import { stripVTControlCharacters } from 'node:util';
import PostalMime, { decodeWords, type Email } from 'postal-mime';
import { decodeText } from '../../kit/charset.ts';
import { bodyLimit, type MailFile, type ParsedMail } from '../domain/notification.ts';
import { isWhole } from './shorten-source.ts';
import { correctCharsets, fieldOf } from './correct-charsets.ts';
import { nameOf } from './file-name.ts';

/** Bounds for mails made to hurt: parts within parts, and bytes of all headers together. */
const limits = { maxNestingDepth: 40, maxHeadersSize: 256 * 1024, forceRfc822Attachments: true };
/** Of an unreadable mail this much is shown. */
const sourceLimit = 64 * 1024;

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
  return /^(?:From |[\x21-\x39\x3b-\x7e]+[ \t]*:)/.test(Buffer.from(raw.subarray(0, 1000)).toString('latin1'));
}

/** Returns true for a body that is labelled as base64 and holds other characters than base64 does. */
function isMislabelled(header: string, source: string): boolean {
  return (
    /^base64/i.test(fieldOf(header, 'content-transfer-encoding')) &&
    !/^(multipart|image|audio|video|application)\//i.test(fieldOf(header, 'content-type')) &&
    /[^A-Za-z0-9+/=\s]/.test(source)
  );
}

/** Removes what is meant for a terminal: colours, and the returns that write a line over again. */
function withoutTerminalCodes(text: string | undefined): string | undefined {
  return text === undefined
    ? undefined
    : stripVTControlCharacters(text)
        .replace(/\r+\n/g, '\r\n')
        .replace(/\r(?!\n)/g, '\n');
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

function describe(email: Email, source: string, mislabelled: boolean, cut: boolean): ParsedMail {
  const header = (name: string): string | undefined => email.headers.find(({ key }) => key === name)?.value;
  const from = header('from');
  return {
    subject: email.subject,
    from: from === undefined ? undefined : withoutComment(decodeWords(from)),
    text: mislabelled ? source : shown(withoutTerminalCodes(email.text)),
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
  const source = decodeText(raw.subarray(start, start + sourceLimit));
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
    const header = Buffer.from(raw.subarray(0, start)).toString('latin1');
    return describe(await PostalMime.parse(correctCharsets(raw), limits), source, isMislabelled(header, source), cut);
  } catch (error) {
    // The parser throws for nothing but its limits; such a mail still has something to say.
    if (!(error instanceof Error)) throw error;
    return { ...plain, text: decodeText(raw.subarray(0, sourceLimit)) };
  }
}
