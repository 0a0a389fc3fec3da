import { nameToEmoji } from 'gemoji';

/** By the names ntfy knows, which are those of GitHub. */
function pictureOf(tag: string): string | undefined {
  return Object.hasOwn(nameToEmoji, tag) ? nameToEmoji[tag] : undefined;
}

/** The tag's picture before its name, or the tag as it is. */
export function tagWords(tag: string): string {
  const picture = pictureOf(tag);
  return picture === undefined ? tag : `${picture} ${tag}`;
}

/** Tags with a picture whose name has this in it, those that begin with it first; six at most. */
export function suggestTags(fragment: string): readonly string[] {
  if (fragment === '' || pictureOf(fragment) !== undefined) return [];
  const fitting = Object.keys(nameToEmoji).filter((name) => name.includes(fragment));
  return fitting.sort((a, b) => Number(b.startsWith(fragment)) - Number(a.startsWith(fragment))).slice(0, 6);
}
