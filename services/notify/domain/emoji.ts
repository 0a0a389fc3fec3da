import { nameToEmoji } from 'gemoji';

/** The picture of a short code of GitHub, which ntfy, Apprise and chats have in common; in any case, without its colons. */
function pictureOf(code: string): string | undefined {
  const name = code.toLowerCase();
  return Object.hasOwn(nameToEmoji, name) ? nameToEmoji[name] : undefined;
}

/** The text with `:rocket:` and the like as pictures, in any case; codes nobody knows stay as they are. */
export function withPictures(text: string): string {
  const [before = '', ...parts] = text.split(':');
  let shown = before;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    const following = parts[at + 1];
    const picture = following === undefined ? undefined : pictureOf(part);
    if (picture === undefined) {
      shown += `:${part}`;
      continue;
    }
    shown += `${picture}${following ?? ''}`;
    at += 1;
  }
  return shown;
}
