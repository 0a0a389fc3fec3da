import { nameToEmoji } from 'gemoji';

/** The picture of a short code of GitHub, which ntfy, Apprise and chats have in common; in any case, without its colons. */
function findEmoji(code: string): string | undefined {
  const name = code.toLowerCase();
  return Object.hasOwn(nameToEmoji, name) ? nameToEmoji[name] : undefined;
}

/** The text with `:rocket:` and the like as pictures, in any case; codes nobody knows stay as they are. */
export function replaceShortCodes(text: string): string {
  const [before = '', ...parts] = text.split(':');
  let result = before;
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    const following = parts[index + 1];
    const emoji = following === undefined ? undefined : findEmoji(part);
    if (emoji === undefined) {
      result += `:${part}`;
      continue;
    }
    result += `${emoji}${following ?? ''}`;
    index += 1;
  }
  return result;
}
