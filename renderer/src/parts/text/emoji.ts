import { nameToEmoji } from 'gemoji';

/** Finds the emoji of a tag. The names are those of ntfy and GitHub. */
function findEmoji(tag: string): string | undefined {
  return Object.hasOwn(nameToEmoji, tag) ? nameToEmoji[tag] : undefined;
}

/**
 * Returns the emoji of the tags followed by a space; ntfy's apps put them before the title or the text of a message.
 */
export function formatEmojiPrefix(tags: readonly string[]): string {
  const emoji = tags.flatMap((tag) => findEmoji(tag) ?? []);
  return emoji.length === 0 ? '' : `${emoji.join(' ')} `;
}

/** Finds the emoji of the first tag that has one. */
export function findFirstEmoji(tags: readonly string[]): string | undefined {
  const tag = tags.find((each) => findEmoji(each) !== undefined);
  return tag === undefined ? undefined : findEmoji(tag);
}

/** Returns the tags without an emoji; the others are shown as emoji before the title. */
export function filterTextTags(tags: readonly string[]): readonly string[] {
  return tags.filter((tag) => findEmoji(tag) === undefined);
}

/** Formats a tag with its emoji, if it has one. */
export function formatTag(tag: string): string {
  const emoji = findEmoji(tag);
  return emoji === undefined ? tag : `${emoji} ${tag}`;
}

/**
 * Formats a tag next to a message; `among` has all tags of the message. For a tag that names an event of another tag,
 * such as `uptime.maintenance_reminder` next to `uptime`, only the event is shown.
 */
export function formatTagName(tag: string, allTags: readonly string[]): string {
  const [, topic = '', event = ''] = /^([a-z]+)\.([a-z_]+)$/.exec(tag) ?? [];
  const isEvent = event !== '' && allTags.some((each) => each !== tag && each.startsWith(topic));
  return isEvent ? event.replaceAll('_', ' ') : tag;
}

/** Returns up to six emoji tags whose name contains the fragment, those that begin with it first. */
export function suggestTags(fragment: string): readonly string[] {
  if (fragment === '' || findEmoji(fragment) !== undefined) return [];
  const matching = Object.keys(nameToEmoji).filter((name) => name.includes(fragment));
  return matching.sort((a, b) => Number(b.startsWith(fragment)) - Number(a.startsWith(fragment))).slice(0, 6);
}
