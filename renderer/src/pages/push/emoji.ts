import { pictures } from '../../../../services/contracts/emoji.ts';

/** The tag's picture before its name, or the tag as it is. */
export function tagWords(tag: string): string {
  const picture = Object.hasOwn(pictures, tag) ? pictures[tag] : undefined;
  return picture === undefined ? tag : `${picture} ${tag}`;
}

/** Tags with a picture whose name has this in it, those that begin with it first; six at most. */
export function suggestTags(fragment: string): readonly string[] {
  if (fragment === '' || Object.hasOwn(pictures, fragment)) return [];
  const fitting = Object.keys(pictures).filter((name) => name.includes(fragment));
  return fitting.sort((a, b) => Number(b.startsWith(fragment)) - Number(a.startsWith(fragment))).slice(0, 6);
}
