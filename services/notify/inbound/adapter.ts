import * as m from '#messages/notify-inbound';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Payload } from './payload.ts';

/** Part of a line: plain text, strong text, or a link; `inText` for a link within a sentence. */
export type TextPart =
  string | { readonly strong: string } | { readonly label: string; readonly link: string; readonly inText?: true };

/** Notification from the payload of another program. */
export interface InboundNotification {
  readonly title: string;
  readonly lines: readonly (readonly TextPart[])[];
  readonly type: NotificationType;
  readonly link?: string | undefined;
  /** Unchanged body, used in place of the lines. */
  readonly body?: string;
  /** Source of the notification; default: the name of the program. */
  readonly source?: string;
  /** Requested destinations of the payload, in the form of a `tag` field. */
  readonly tag?: unknown;
}

/**
 * Converts the payload of one program to a notification. Texts of the program stay as they are; texts of the adapter are
 * in the current language.
 */
export interface InboundAdapter {
  /** Name of the program; in lower case, it is the source of its notifications. */
  readonly name: string;
  /** Title of a payload without a message, for an adapter of several programs; default: the name. */
  readonly title?: () => string;
  /** Returns true for a payload of this program, by its fields or a header. */
  readonly matches: (payload: Payload, header: (name: string) => string | undefined) => boolean;
  /** Parses a payload. Returns undefined if it contains no message; the payload is then shown unchanged. */
  readonly parse: (payload: Payload, header: (name: string) => string | undefined) => InboundNotification | undefined;
}

/** Maximum length of a body in characters. */
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

/** Formats lines as text, or as Markdown with links and strong text; empty lines at the ends are removed. */
export function writeLines(lines: InboundNotification['lines'], format: 'text' | 'markdown'): string {
  const formatPart = format === 'text' ? formatPlain : formatMarkdown;
  // Two spaces make a line break in Markdown.
  const text = lines.map((line) => line.map(formatPart).join('')).join(format === 'text' ? '\n' : '  \n');
  const trimmed = text.replace(/^\s+|\s+$/g, '');
  return trimmed.length > maxLength ? `${trimmed.slice(0, maxLength)}…` : trimmed;
}

/** Splits a text into lines. */
export function toLines(text: string): readonly (readonly TextPart[])[] {
  return text === '' ? [] : text.split(/\r\n|\n|\r/).map((line) => [line]);
}

/** Formats the line that names the author; without a name, the author is unknown. */
export function formatAuthor(name: string): string {
  return name === '' ? m.bySomeone() : m.by({ name });
}

/** Builds a line with a link; none without an address. */
export function buildLinkLine(label: string, link: string | undefined): readonly (readonly TextPart[])[] {
  return link === undefined ? [] : [[{ label, link }]];
}

/** Joins the texts that are not empty. */
export function joinTexts(separator: string, ...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(separator);
}

/** Capitalizes the first letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
