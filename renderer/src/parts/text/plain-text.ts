// Overrides and isolates of the writing direction, which can show a file name backwards, and characters without
// width, which make different words look alike. The joiners that Persian and emoji need are kept.
const invisibleCharacters = /[\u202A-\u202E\u2066-\u2069\u200B\u200E\u200F\u2060\u061C\uFEFF]/gu;
// Control characters other than tab and line break.
const controlCharacters = /[^\P{Cc}\t\n\r]/gu;

/** Removes characters from untrusted text that make it look like something else. */
export function stripInvisible(text: string): string {
  return text.replace(invisibleCharacters, '').replace(controlCharacters, '');
}

/** Returns the URL if it may be opened as a link, otherwise null: only http and https are allowed. */
export function toWebUrl(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
