import { nameToEmoji } from 'gemoji';

/** Returns the emoji of a GitHub short code, which ntfy, Apprise and chats share; case-insensitive, without colons. */
function findEmoji(code: string): string | undefined {
  const name = code.toLowerCase();
  return Object.hasOwn(nameToEmoji, name) ? nameToEmoji[name] : undefined;
}

/** Replaces short codes such as `:rocket:` by emojis; unknown codes are unchanged. */
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
