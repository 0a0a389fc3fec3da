import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Payload } from './payload.ts';

/** A stretch of a line: plain, strong, or leading somewhere; `inText` where it stands within a sentence. */
export type TextPart =
  string | { readonly strong: string } | { readonly label: string; readonly link: string; readonly inText?: true };

/** What a program's payload says, as a person would want to be told. */
export interface InboundNotification {
  readonly title: string;
  readonly lines: readonly (readonly TextPart[])[];
  readonly type: NotificationType;
  readonly link?: string | undefined;
  /** The body as it came, in the place of lines. */
  readonly body?: string;
  /** The source of the notice, where it is not the program's name. */
  readonly source?: string;
  /** Destinations the payload itself asks for, in the form of a `tag` field. */
  readonly tag?: unknown;
}

/** How the payload of one program is recognised and read. */
export interface InboundAdapter {
  /** Its name, also the source of its notices in lower case. */
  readonly name: string;
  /** True when the payload is this program's: by its shape, or by a header that says so. */
  readonly matches: (payload: Payload, header: (name: string) => string | undefined) => boolean;
  /** Undefined when the payload says nothing; it is shown as it is then. */
  readonly parse: (payload: Payload, header: (name: string) => string | undefined) => InboundNotification | undefined;
}

/** Characters of a whole text. */
const maxLength = 20_000;

function escape(text: string): string {
  return text.replace(/[\\`*_[\]<>#|~]/g, '\\$&');
}

function formatMarkdown(part: TextPart): string {
  if (typeof part === 'string') return escape(part);
  if ('strong' in part) return part.strong === '' ? '' : `**${escape(part.strong)}**`;
  if (part.label === part.link) return `<${part.link}>`;
  return `[${escape(part.label)}](${part.link.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll('\\', '%5C')})`;
}

function formatPlain(part: TextPart): string {
  if (typeof part === 'string') return part;
  if ('strong' in part) return part.strong;
  const { label, link, inText } = part;
  if (label === link) return link;
  return inText === true ? `${label} (${link})` : `${label}: ${link}`;
}

/** The lines of a reading as text, or as Markdown with its links and stresses; empty lines at the ends are dropped. */
export function writeLines(lines: InboundNotification['lines'], format: 'text' | 'markdown'): string {
  const formatPart = format === 'text' ? formatPlain : formatMarkdown;
  // Two spaces keep a line break in Markdown.
  const text = lines.map((line) => line.map(formatPart).join('')).join(format === 'text' ? '\n' : '  \n');
  const trimmed = text.replace(/^\s+|\s+$/g, '');
  return trimmed.length > maxLength ? `${trimmed.slice(0, maxLength)}…` : trimmed;
}

/** Lines of a text that comes with its own line breaks. */
export function toLines(text: string): readonly (readonly TextPart[])[] {
  return text === '' ? [] : text.split(/\r\n|\n|\r/).map((line) => [line]);
}

/** A line with a link, or none where there is no address. */
export function buildLinkLine(label: string, link: string | undefined): readonly (readonly TextPart[])[] {
  return link === undefined ? [] : [[{ label, link }]];
}

/** The texts that are not empty, joined. */
export function joinTexts(separator: string, ...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(separator);
}

/** `1 commit`, `2 commits`. */

/** A word with its first letter as a capital. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
