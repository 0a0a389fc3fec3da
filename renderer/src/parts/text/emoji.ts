import { nameToEmoji } from 'gemoji';

/** By the names ntfy knows, which are those of GitHub. */
function pictureOf(tag: string): string | undefined {
  return Object.hasOwn(nameToEmoji, tag) ? nameToEmoji[tag] : undefined;
}

/** The pictures of those tags that have one, with a space behind them: ntfy's apps put them before a message's title, or its text. */
export function picturesBefore(tags: readonly string[]): string {
  const pictures = tags.flatMap((tag) => pictureOf(tag) ?? []);
  return pictures.length === 0 ? '' : `${pictures.join(' ')} `;
}

/** The tags that are words: those with a picture stand before the title already. */
export function tagsInWords(tags: readonly string[]): readonly string[] {
  return tags.filter((tag) => pictureOf(tag) === undefined);
}

/** The tag's picture before its name, or the tag as it is. */
export function tagWords(tag: string): string {
  const picture = pictureOf(tag);
  return picture === undefined ? tag : `${picture} ${tag}`;
}

/**
 * A tag beside a message. `among`: all tags of the message. One that names an event of
 * another tag, such as `uptime.maintenance_reminder` beside `uptime`, is only the event in words.
 */
export function tagName(tag: string, among: readonly string[]): string {
  const [, about = '', event = ''] = /^([a-z]+)\.([a-z_]+)$/.exec(tag) ?? [];
  const isEvent = event !== '' && among.some((each) => each !== tag && each.startsWith(about));
  return isEvent ? event.replaceAll('_', ' ') : tag;
}

/** Tags with a picture whose name has this in it, those that begin with it first; six at most. */
export function suggestTags(fragment: string): readonly string[] {
  if (fragment === '' || pictureOf(fragment) !== undefined) return [];
  const fitting = Object.keys(nameToEmoji).filter((name) => name.includes(fragment));
  return fitting.sort((a, b) => Number(b.startsWith(fragment)) - Number(a.startsWith(fragment))).slice(0, 6);
}
