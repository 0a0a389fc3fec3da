import { htmlToText } from '../kit/plain-text.ts';
import type { TextFormat } from '../contracts/notify/notification.ts';

const longestTitle = 256;
const longestBody = 1000;
/** Characters of a message that are looked at; a popup shows far less. */
const considered = 8000;

/** Title on one line, 256 characters at most. */
export function titleText(text: string): string {
  return shorten(clean(text).replace(/\s+/g, ' ').trim(), longestTitle);
}

/** A message's body as plain text, 1,000 characters at most. */
export function bodyText(text: string, format: TextFormat): string {
  const part = text.slice(0, considered);
  const plain = format === 'html' ? htmlToText(part) : format === 'markdown' ? unmarked(part) : part;
  const lines = clean(plain).replace(/[^\S\n]+/g, ' ');
  return shorten(
    lines
      .replace(/ ?\n ?/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    longestBody,
  );
}

/**
 * Without what could make a popup say something other than its letters do: control characters, direction overrides,
 * invisible ones. Line breaks stay; the joiners of scripts and emoji too.
 */
function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(
      /[\u200b\u2060-\u2064\ufeff\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]|[\u{e0000}-\u{e007f}]/gu,
      '',
    )
    .replace(/[^\P{Cc}\n]/gu, ' ');
}

/** The marks of Markdown that read badly as plain text. */
function unmarked(text: string): string {
  return text
    .replace(/^\s{0,3}(?:#{1,6}\s+|>\s?|`{3,}.*$)/gm, '')
    .replace(/!?\[([^\][\n]{0,500})\]\([^()\s]{0,2000}\)/g, '$1')
    .replace(/(\*\*|__|~~|`)(?=\S)([^\n]{1,500}?\S|\S)\1/g, '$2');
}

/** At most `length` UTF-16 units, no character cut in two. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length - 1);
  return `${(/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut).trimEnd()}…`;
}
