import { htmlToText } from '../kit/plain-text.ts';
import type { TextFormat } from '../contracts/notify/notification.ts';

const maxTitleLength = 256;
const maxBodyLength = 1000;
/** Maximum number of characters of a message that are processed; a popup shows far fewer. */
const maxInputLength = 8000;

/** Formats a title on one line, at most 256 characters. */
export function formatTitle(text: string): string {
  return truncate(removeUnsafeCharacters(text).replace(/\s+/g, ' ').trim(), maxTitleLength);
}

/** Formats a body as plain text, at most 1,000 characters. */
export function formatBody(text: string, format: TextFormat): string {
  const input = text.slice(0, maxInputLength);
  const plainText = format === 'html' ? htmlToText(input) : format === 'markdown' ? removeMarkdown(input) : input;
  const lines = removeUnsafeCharacters(plainText).replace(/[^\S\n]+/g, ' ');
  return truncate(
    lines
      .replace(/ ?\n ?/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    maxBodyLength,
  );
}

/**
 * Removes characters that could disguise the text: control characters, direction overrides and invisible characters.
 * Line breaks and the joiners of scripts and emoji are kept.
 */
function removeUnsafeCharacters(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(
      /[\u200b\u2060-\u2064\ufeff\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]|[\u{e0000}-\u{e007f}]/gu,
      '',
    )
    .replace(/[^\P{Cc}\n]/gu, ' ');
}

/** Removes Markdown marks that impair plain text. */
function removeMarkdown(text: string): string {
  return text
    .replace(/^\s{0,3}(?:#{1,6}\s+|>\s?|`{3,}.*$)/gm, '')
    .replace(/!?\[([^\][\n]{0,500})\]\([^()\s]{0,2000}\)/g, '$1')
    .replace(/(\*\*|__|~~|`)(?=\S)([^\n]{1,500}?\S|\S)\1/g, '$2');
}

/** Truncates to at most `length` UTF-16 units without splitting a character. */
function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength - 1);
  return `${(/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut).trimEnd()}…`;
}
