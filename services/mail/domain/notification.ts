import * as m from '#messages/mail-texts';
import type { NotificationContent, NotificationType } from '../../contracts/notify/notification.ts';
import { htmlToText } from '../../kit/plain-text.ts';
import type { MailTemplates } from './deliveries.ts';
import type { Rendering } from './senders/program.ts';
import { recognizeMail } from './recognize.ts';
import { fillTemplate, type TemplateValues } from './template.ts';
import { escapeMarkup } from '../../kit/escape-html.ts';

/** Attachment of a mail. */
export interface MailFile {
  readonly name: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Undefined when the file is too large to be forwarded. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** Parsed mail. */
export interface ParsedMail {
  /** Decoded; undefined without header field. */
  readonly subject: string | undefined;
  readonly from: string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  /** All other parts, in order. */
  readonly attachments: readonly MailFile[];
  /** True for `X-Priority` 1 or 2, or `Importance: high`. */
  readonly urgent: boolean;
  /** Number of notify services that forwarded the mail, from their own header field. */
  readonly hops?: number;
  /** Body as received, shown when nothing else is available. */
  readonly source: string;
}

/** Options for converting a mail to a notification. */
export interface NotificationOptions {
  readonly type: NotificationType;
  readonly to: string;
  /** Name of the recipient entry. */
  readonly config: string;
  readonly templates: MailTemplates;
  /** Improves titles and types of mails from known programs. */
  readonly recognize: boolean;
}

/** Maximum number of characters of a body; longer ones are truncated, the spool keeps the full mail. */
export const maxBodyLength = 512 * 1024;
const maxTitleLength = 1000;

/** Options without recipient entry, as used by the reading view. */
export const defaultOptions: NotificationOptions = {
  type: 'info',
  to: '',
  config: '',
  recognize: false,
  templates: { title: '', body: '', format: 'as it comes' },
};

/** Replaces line breaks of encoded subjects, which could become header fields later. */
function toSingleLine(text: string | undefined, getFallbackBody: string): string {
  const line = text?.replace(/\p{Cc}+/gu, ' ').trim() ?? '';
  return line === '' ? getFallbackBody : line;
}

function truncate(text: string): string {
  return text.length <= maxBodyLength ? text : `${text.slice(0, maxBodyLength).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Formats `[attachments: a.png, b.csv]` with at most ten names. */
function formatAttachmentLine(names: readonly string[]): string {
  if (names.length === 0) return '';
  const listed = names.slice(0, 10).map((name) => toSingleLine(name, m.unnamedFile()).slice(0, 100));
  const more = names.length - listed.length;
  const values = { count: names.length, names: listed.join(', ') };
  return more > 0 ? m.attachmentsAndMore({ more, ...values }) : m.attachments(values);
}

interface Body {
  readonly text: string;
  readonly format: NotificationContent['format'];
}

/** Returns the text of a mail; for a mail with HTML only, optionally with the URLs of its links. */
function getPlainText(mail: ParsedMail, links: boolean): string {
  const text = mail.text?.replaceAll('\u0000', '').trimEnd() ?? '';
  return text.trim() !== '' ? text : htmlToText(mail.html ?? '', { links });
}

/** Returns the body in the format requested by the recipient entry; empty when the mail has none. */
function getBody(mail: ParsedMail, requestedFormat: MailTemplates['format']): Body {
  const html = mail.html?.trim() ?? '';
  const text = mail.text?.replaceAll('\u0000', '').trimEnd() ?? '';
  if (requestedFormat === 'text' || requestedFormat === 'markdown')
    return { text: getPlainText(mail, true), format: requestedFormat };
  if (html !== '') return { text: html, format: 'html' };
  if (requestedFormat === 'html') return { text: escapeMarkup(text).replaceAll(/\r?\n/g, '<br>\n'), format: 'html' };
  return { text, format: 'text' };
}

function getFallbackBody(mail: ParsedMail, subject: string): string {
  if (mail.attachments.length > 0) return subject;
  const source = mail.source.replaceAll('\u0000', '').trim();
  return source === '' ? subject : source;
}

/**
 * Converts a mail to a notification: title `subject (sender)`, HTML preferred to plain text, and attachment names in a
 * last line, or as the recipient's templates define. An empty body is replaced by the subject, because some
 * destinations refuse empty messages. `attachmentNames` are the attachments to be listed: those that are not part of
 * the notification.
 */
export function toNotification(
  mail: ParsedMail,
  options: NotificationOptions,
  attachmentNames: readonly string[] = [],
): NotificationContent {
  const { templates, to, config } = options;
  const selectedBody = getBody(mail, templates.format);
  const from = toSingleLine(mail.from, m.noSender());
  const mailSubject = toSingleLine(mail.subject, m.noSubject());
  const rendering: Rendering = options.recognize
    ? recognizeMail({
        subject: toSingleLine(mail.subject, '').slice(0, maxTitleLength),
        from: from.slice(0, maxTitleLength),
        text: getPlainText(mail, false).replaceAll('\r\n', '\n'),
        attachmentTypes: mail.attachments.map(({ type }) => type),
      })
    : {};
  const subject = rendering.title ?? mailSubject;
  // A type in the address takes precedence; a mail marked as urgent becomes a warning.
  const type = options.type !== 'info' ? options.type : (rendering.type ?? (mail.urgent ? 'warning' : 'info'));
  const body: Body =
    rendering.body !== undefined && rendering.body !== '' && templates.format === 'as it comes'
      ? { text: rendering.body, format: 'text' }
      : selectedBody;
  const format = body.text === '' ? 'text' : body.format;
  const bodyText = body.text === '' ? getFallbackBody(mail, mailSubject) : body.text;
  const values: TemplateValues = { subject, from, body: truncate(bodyText), to, config, type };
  const defaultTitle = rendering.title ?? `${subject} (${from})`;
  const title =
    templates.title === '' ? defaultTitle : toSingleLine(fillTemplate(templates.title, values), defaultTitle);
  const escapedValues = format === 'html' ? escapeValues(values) : values;
  const renderedBody = templates.body === '' ? values.body : fillTemplate(templates.body, escapedValues);
  return {
    title: title.slice(0, maxTitleLength),
    type,
    tags: [],
    source: 'mail',
    body: appendLine(renderedBody, formatAttachmentLine(attachmentNames), format),
    format,
    ...(mail.hops === undefined ? {} : { hops: mail.hops }),
  };
}

/** Converts mail to a topic address like ntfy: the subject is the title, or the message when there is no text. */
export function toTopicMessage(mail: ParsedMail): { readonly title: string; readonly message: string } {
  const subject = toSingleLine(mail.subject, '').slice(0, maxTitleLength);
  const message = truncate(getBody(mail, 'text').text.trim());
  return message === '' ? { title: '', message: subject } : { title: subject, message };
}

/** Escapes the sender's text for use in HTML. */
function escapeValues({ subject, from, to, config, type, body }: TemplateValues): TemplateValues {
  const escaped = { subject: escapeMarkup(subject), from: escapeMarkup(from), to: escapeMarkup(to) };
  return { ...escaped, config: escapeMarkup(config), type, body };
}

function appendLine(body: string, line: string, format: NotificationContent['format']): string {
  if (line === '') return body;
  if (format === 'html') return `${body}<p>${escapeMarkup(line)}</p>`;
  return `${body}\n\n${line}`;
}
