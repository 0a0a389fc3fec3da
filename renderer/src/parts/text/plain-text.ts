// Overrides and isolates of the writing direction (a file name may be shown backwards), and characters without width (two
// words that look alike). The joiners that Persian and emoji need stay.
const hidden = /[\u202A-\u202E\u2066-\u2069\u200B\u200E\u200F\u2060\u061C\uFEFF]/gu;
// Control characters besides tab and the line's end.
const controls = /[^\P{Cc}\t\n\r]/gu;

/** What a stranger wrote, without the characters that make it look like something else. */
export function plain(text: string): string {
  return text.replace(hidden, '').replace(controls, '');
}

/** An address that may be opened by a press, or null: http and https alone. */
export function webAddress(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
