import { stripVTControlCharacters } from 'node:util';
import PostalMime, { decodeWords, type Email } from 'postal-mime';
import { decodeText } from '../../kit/charset.ts';
import { maxBodyLength, type MailFile, type ParsedMail } from '../domain/notification.ts';
import { isComplete } from './shorten-source.ts';
import { correctCharsets, getField } from './correct-charsets.ts';
import { getDefaultName } from './file-name.ts';

/** Limits against hostile mails: nesting depth, and size of all headers. */
const limits = { maxNestingDepth: 40, maxHeadersSize: 256 * 1024, forceRfc822Attachments: true };
/** Maximum number of bytes shown of an unreadable mail. */
const maxSourceBytes = 64 * 1024;

/** Returns the start of the body: after the first empty line, or the start of a text without header. */
function findBodyStart(raw: Uint8Array): number {
  const view = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const crlf = view.indexOf('\r\n\r\n');
  const lf = view.indexOf('\n\n');
  if (crlf === -1 && lf === -1) return raw.length;
  if (crlf !== -1 && (lf === -1 || crlf < lf)) return crlf + 4;
  return lf + 2;
}

/** Returns true when the first line is a header field (RFC 5322, section 2.2); otherwise the client sent no header. */
function hasHeader(raw: Uint8Array): boolean {
  return /^(?:From |[\x21-\x39\x3b-\x7e]+[ \t]*:)/.test(Buffer.from(raw.subarray(0, 1000)).toString('latin1'));
}

/** Returns true for a body that is labelled as base64 but contains other characters. */
function isMislabelled(header: string, source: string): boolean {
  return (
    /^base64/i.test(getField(header, 'content-transfer-encoding')) &&
    !/^(multipart|image|audio|video|application)\//i.test(getField(header, 'content-type')) &&
    /[^A-Za-z0-9+/=\s]/.test(source)
  );
}

/** Removes terminal escape sequences, and carriage returns that overwrite a line. */
function withoutTerminalCodes(text: string | undefined): string | undefined {
  return text === undefined
    ? undefined
    : stripVTControlCharacters(text)
        .replace(/\r+\n/g, '\r\n')
        .replace(/\r(?!\n)/g, '\n');
}

/** Removes a comment after the address (`root@host (Cron Daemon)`), an obsolete syntax. */
function withoutComment(from: string): string {
  const text = from.trimEnd();
  const openIndex = text.lastIndexOf('(');
  return openIndex === -1 || text.indexOf(')', openIndex) !== text.length - 1
    ? text
    : text.slice(0, openIndex).trimEnd();
}

/** Limits text to the displayed length, plus one character that indicates truncation. */
function limitText(text: string | undefined): string | undefined {
  return text?.slice(0, maxBodyLength + 1);
}

async function toMailFile(
  { filename, mimeType, content }: Email['attachments'][number],
  index: number,
  isShortened: boolean,
): Promise<MailFile> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
  // A shortened file is not forwarded, only its name.
  const isWholeFile = !isShortened || isComplete(bytes.length);
  return {
    name: filename ?? (await getDefaultName(mimeType, index)),
    type: mimeType,
    size: bytes.length,
    bytes: isWholeFile ? bytes : undefined,
  };
}

function parseHops(header: string | undefined): { readonly hops?: number } {
  const [, hops] = /^\s*(\d{1,3})\s*$/.exec(header ?? '') ?? [];
  return hops === undefined ? {} : { hops: Number(hops) };
}

async function toParsedMail(
  email: Email,
  source: string,
  isMislabelledBody: boolean,
  isShortened: boolean,
): Promise<ParsedMail> {
  const header = (name: string): string | undefined => email.headers.find(({ key }) => key === name)?.value;
  const from = header('from');
  return {
    subject: email.subject,
    from: from === undefined ? undefined : withoutComment(decodeWords(from)),
    text: isMislabelledBody ? source : limitText(withoutTerminalCodes(email.text)),
    html: isMislabelledBody ? undefined : limitText(email.html),
    attachments: await Promise.all(email.attachments.map((part, index) => toMailFile(part, index, isShortened))),
    ...parseHops(header('x-notify-hop')),
    urgent: /^\s*[12]\b/.test(header('x-priority') ?? '') || /^\s*high\b/i.test(header('importance') ?? ''),
    source,
  };
}

/**
 * Parses a mail even when it is malformed; anything else is shown as received. `isShortened` is true when {@link
 * shortenSource} removed a part.
 */
export async function parseMail(raw: Uint8Array, isShortened = false): Promise<ParsedMail> {
  const headerExists = hasHeader(raw);
  const start = headerExists ? findBodyStart(raw) : 0;
  const source = decodeText(raw.subarray(start, start + maxSourceBytes));
  const rawMail = {
    subject: undefined,
    from: undefined,
    text: source,
    html: undefined,
    attachments: [],
    urgent: false,
    source,
  };
  if (!headerExists) return rawMail;
  try {
    const header = Buffer.from(raw.subarray(0, start)).toString('latin1');
    return await toParsedMail(
      await PostalMime.parse(correctCharsets(raw), limits),
      source,
      isMislabelled(header, source),
      isShortened,
    );
  } catch (error) {
    // The parser throws only for its limits; the raw text is then shown.
    if (!(error instanceof Error)) throw error;
    return { ...rawMail, text: decodeText(raw.subarray(0, maxSourceBytes)) };
  }
}
