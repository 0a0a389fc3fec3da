import { STATUS_CODES } from 'node:http';

/** Maximum number of characters. HTTP has no limit, but clients accept only status lines of some thousand bytes. */
const maxLength = 1000;

/**
 * Returns the reason phrase of a response with a message, as the server of MeTube writes it: any text in UTF-8. Line
 * breaks and other control characters, which end the line or are not allowed in it, become spaces. A message that is too
 * long ends with an ellipsis, and an empty one is replaced by the phrase of the status.
 */
export function toReasonPhrase(message: string, status: number): string {
  const line = message.replace(/\p{Cc}+/gu, ' ').trim();
  const text = line.length > maxLength ? `${line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
  if (text === '') return STATUS_CODES[status] ?? '';
  // Node writes the status line in Latin-1 and refuses other characters, so each byte of UTF-8 is one of its characters.
  return Buffer.from(text, 'utf8').toString('latin1');
}
