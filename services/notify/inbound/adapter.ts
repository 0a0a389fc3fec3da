import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Part } from './payload.ts';

/** A stretch of a line: plain, strong, or leading somewhere; `inText` where it stands within a sentence. */
export type Piece =
  string | { readonly strong: string } | { readonly words: string; readonly link: string; readonly inText?: true };

/** What a program's payload says, as a person would want to be told. */
export interface Reading {
  readonly title: string;
  readonly lines: readonly (readonly Piece[])[];
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
export interface Program {
  /** Its name, also the source of its notices in lower case. */
  readonly name: string;
  /** True when the payload is this program's: by its shape, or by a header that says so. */
  readonly claims: (payload: Part, header: (name: string) => string | undefined) => boolean;
  /** Undefined when the payload says nothing; it is shown as it is then. */
  readonly read: (payload: Part, header: (name: string) => string | undefined) => Reading | undefined;
}

/** Characters of a whole text. */
const longest = 20_000;

function escape(text: string): string {
  return text.replace(/[\\`*_[\]<>#|~]/g, '\\$&');
}

function markdown(piece: Piece): string {
  if (typeof piece === 'string') return escape(piece);
  if ('strong' in piece) return piece.strong === '' ? '' : `**${escape(piece.strong)}**`;
  if (piece.words === piece.link) return `<${piece.link}>`;
  return `[${escape(piece.words)}](${piece.link.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll('\\', '%5C')})`;
}

function plain(piece: Piece): string {
  if (typeof piece === 'string') return piece;
  if ('strong' in piece) return piece.strong;
  const { words, link, inText } = piece;
  if (words === link) return link;
  return inText === true ? `${words} (${link})` : `${words}: ${link}`;
}

/** The lines of a reading as text, or as Markdown with its links and stresses; empty lines at the ends are dropped. */
export function writeLines(lines: Reading['lines'], format: 'text' | 'markdown'): string {
  const write = format === 'text' ? plain : markdown;
  // Two spaces keep a line break in Markdown.
  const text = lines.map((line) => line.map(write).join('')).join(format === 'text' ? '\n' : '  \n');
  const trimmed = text.replace(/^\s+|\s+$/g, '');
  return trimmed.length > longest ? `${trimmed.slice(0, longest)}…` : trimmed;
}

/** Lines of a text that comes with its own line breaks. */
export function linesOf(text: string): readonly (readonly Piece[])[] {
  return text === '' ? [] : text.split(/\r\n|\n|\r/).map((line) => [line]);
}

/** A line with a link, or none where there is no address. */
export function linkLine(words: string, link: string | undefined): readonly (readonly Piece[])[] {
  return link === undefined ? [] : [[{ words, link }]];
}

/** The texts that are not empty, joined. */
export function joined(separator: string, ...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(separator);
}

/** `1 commit`, `2 commits`. */

/** A word with its first letter as a capital. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
