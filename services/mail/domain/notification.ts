import type { NotificationContent, NotificationType } from '../../contracts/notify/notification.ts';
import { htmlToText } from '../../kit/plain-text.ts';
import type { Wording } from './deliveries.ts';
import type { Rendering } from './senders/program.ts';
import { recognise } from './recognize.ts';
import { fill, type TemplateValues } from './template.ts';

/** A part of a mail that is not its text. */
export interface MailFile {
  readonly name: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Undefined when it is too large to be passed on. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** A mail as its reader made it out, before any decision. */
export interface ParsedMail {
  /** Decoded; undefined when the header is missing. */
  readonly subject: string | undefined;
  readonly from: string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  /** Everything else, in order. */
  readonly attachments: readonly MailFile[];
  /** `X-Priority` 1 or 2, or `Importance: high`. */
  readonly urgent: boolean;
  /** Aggregators that passed it on, as their own header counts them. */
  readonly hops?: number;
  /** What came after the header, as it was sent: shown when nothing else can be. */
  readonly source: string;
}

/** How a mail is to be told. */
export interface Telling {
  readonly type: NotificationType;
  readonly to: string;
  /** Name of the entry of the recipients. */
  readonly config: string;
  readonly wording: Wording;
  /** Mails of known programs get better titles and types. */
  readonly recognise: boolean;
}

/** Characters of a body; longer ones are cut, the whole mail stays in the spool. */
export const bodyLimit = 512 * 1024;
const titleLimit = 1000;

/** Mail as it comes, to nobody in particular: what its reading view shows. */
export const plainTelling: Telling = {
  ...{ type: 'info', to: '', config: '', recognise: false },
  wording: { title: '', body: '', format: 'as it comes' },
};

/** Line breaks in an encoded subject would become headers somewhere further on. */
function oneLine(text: string | undefined, otherwise: string): string {
  const line = text?.replace(/\p{Cc}+/gu, ' ').trim() ?? '';
  return line === '' ? otherwise : line;
}

function cut(text: string): string {
  return text.length <= bodyLimit ? text : `${text.slice(0, bodyLimit).replace(/[\ud800-\udbff]$/, '')}…`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** `[attachments: a.png, b.csv]`, at most ten names. */
function attachmentLine(names: readonly string[]): string {
  if (names.length === 0) return '';
  const shown = names.slice(0, 10).map((name) => oneLine(name, 'unnamed').slice(0, 100));
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return `[${names.length === 1 ? 'attachment' : 'attachments'}: ${shown.join(', ')}${more}]`;
}

interface Body {
  readonly text: string;
  readonly format: NotificationContent['format'];
}

/** The words of a mail; of one that has HTML alone, with the addresses of its links where they are asked for. */
function plainOf(mail: ParsedMail, links: boolean): string {
  const text = mail.text?.replaceAll('\u0000', '').trimEnd() ?? '';
  return text.trim() !== '' ? text : htmlToText(mail.html ?? '', { links });
}

/** The part of the mail that the recipient's choice asks for; empty when the mail has none. */
function bodyOf(mail: ParsedMail, wanted: Wording['format']): Body {
  const html = mail.html?.trim() ?? '';
  const text = mail.text?.replaceAll('\u0000', '').trimEnd() ?? '';
  if (wanted === 'text' || wanted === 'markdown') return { text: plainOf(mail, true), format: wanted };
  if (html !== '') return { text: html, format: 'html' };
  if (wanted === 'html') return { text: escapeHtml(text).replaceAll(/\r?\n/g, '<br>\n'), format: 'html' };
  return { text, format: 'text' };
}

function fallback(mail: ParsedMail, subject: string): string {
  if (mail.attachments.length > 0) return subject;
  const source = mail.source.replaceAll('\u0000', '').trim();
  return source === '' ? subject : source;
}

/**
 * The notice a mail becomes: title `subject (sender)`, the HTML body before the plain one, attachments named in a last line;
 * or as the recipient's wording has it. A body that is there but empty is replaced by the subject, since some destinations
 * refuse an empty message. `told` are the attachments to be named: those that do not go with the notice themselves.
 */
export function noticeOfMail(mail: ParsedMail, telling: Telling, told: readonly string[] = []): NotificationContent {
  const { wording, to, config } = telling;
  const chosen = bodyOf(mail, wording.format);
  const from = oneLine(mail.from, '[no sender]');
  const given = oneLine(mail.subject, '[no subject]');
  const known: Rendering = telling.recognise
    ? recognise({
        ...{ subject: oneLine(mail.subject, '').slice(0, titleLimit), from: from.slice(0, titleLimit) },
        text: plainOf(mail, false).replaceAll('\r\n', '\n'),
        attached: mail.attachments.map(({ type }) => type),
      })
    : {};
  const subject = known.title ?? given;
  // An address with a type decides for itself; a sender who marks a mail as urgent wants it seen.
  const type = telling.type !== 'info' ? telling.type : (known.type ?? (mail.urgent ? 'warning' : 'info'));
  const body: Body =
    known.body !== undefined && known.body !== '' && wording.format === 'as it comes'
      ? { text: known.body, format: 'text' }
      : chosen;
  const format = body.text === '' ? 'text' : body.format;
  const shown = body.text === '' ? fallback(mail, given) : body.text;
  const values: TemplateValues = { subject, from, body: cut(shown), to, config, type };
  const usual = known.title ?? `${subject} (${from})`;
  const title = wording.title === '' ? usual : oneLine(fill(wording.title, values), usual);
  const wrapped = format === 'html' ? inHtml(values) : values;
  const filled = wording.body === '' ? values.body : fill(wording.body, wrapped);
  return {
    title: title.slice(0, titleLimit),
    type,
    tags: [],
    source: 'mail',
    body: withLine(filled, attachmentLine(told), format),
    format,
    ...(mail.hops === undefined ? {} : { hops: mail.hops }),
  };
}

/** What mail to a topic's own address says there, as the peer has it: the subject is the title, or all there is. */
export function messageOfMail(mail: ParsedMail): { readonly title: string; readonly message: string } {
  const subject = oneLine(mail.subject, '').slice(0, titleLimit);
  const message = cut(bodyOf(mail, 'text').text.trim());
  return message === '' ? { title: '', message: subject } : { title: subject, message };
}

/** A sender's words within markup are only words. */
function inHtml({ subject, from, to, config, type, body }: TemplateValues): TemplateValues {
  const escaped = { subject: escapeHtml(subject), from: escapeHtml(from), to: escapeHtml(to) };
  return { ...escaped, config: escapeHtml(config), type, body };
}

function withLine(body: string, line: string, format: NotificationContent['format']): string {
  if (line === '') return body;
  if (format === 'html') return `${body}<p>${escapeHtml(line)}</p>`;
  return `${body}\n\n${line}`;
}
