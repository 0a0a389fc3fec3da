import type { Notice, NoticeType } from '../../contracts/notice.ts';

/** A mail as its reader made it out, before any decision. */
export interface ParsedMail {
  /** Decoded; undefined when the header is missing. */
  readonly subject: string | undefined;
  readonly from: string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  /** Names and types of everything else, in order. */
  readonly attachments: readonly { readonly name: string; readonly type: string }[];
  /** `X-Priority` 1 or 2, or `Importance: high`. */
  readonly urgent: boolean;
  /** What came after the header, as it was sent: shown when nothing else can be. */
  readonly source: string;
}

/** Characters of a body; longer ones are cut, the whole mail stays in the spool. */
export const bodyLimit = 512 * 1024;
const titleLimit = 1000;

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
function attachmentLine(attachments: ParsedMail['attachments']): string {
  if (attachments.length === 0) return '';
  const names = attachments.slice(0, 10).map(({ name }) => oneLine(name, 'unnamed').slice(0, 100));
  const more = attachments.length > names.length ? ` and ${attachments.length - names.length} more` : '';
  return `[${attachments.length === 1 ? 'attachment' : 'attachments'}: ${names.join(', ')}${more}]`;
}

/**
 * The notice a mail becomes: title `subject (sender)`, the HTML body before the plain one, attachments named in a last line.
 * A body that is there but empty is replaced by the subject, since some destinations refuse an empty message.
 */
export function noticeOfMail(mail: ParsedMail, type: NoticeType): Notice {
  const subject = oneLine(mail.subject, '[no subject]');
  const title = `${subject} (${oneLine(mail.from, '[no sender]')})`;
  const html = mail.html?.trim() ?? '';
  const text = mail.text?.replaceAll('\u0000', '').trimEnd() ?? '';
  const attachments = attachmentLine(mail.attachments);
  const common = {
    title: title.slice(0, titleLimit),
    // A sender who marks a mail as urgent wants it seen; an address with a type decides for itself.
    type: mail.urgent && type === 'info' ? ('warning' as const) : type,
    tags: [],
    source: 'mail',
  };
  if (html !== '') {
    const body = cut(html) + (attachments === '' ? '' : `<p>${escapeHtml(attachments)}</p>`);
    return { ...common, body, format: 'html' };
  }
  const shown = text.trim() !== '' ? text : fallback(mail, subject);
  return { ...common, body: [cut(shown), attachments].filter((part) => part !== '').join('\n\n'), format: 'text' };
}

function fallback(mail: ParsedMail, subject: string): string {
  if (mail.attachments.length > 0) return '[no body]';
  const source = mail.source.replaceAll('\u0000', '').trim();
  return source === '' ? subject : source;
}
