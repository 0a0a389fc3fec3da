import type { NotifyDestination } from '../../../../services/contracts/notify/api.ts';

/** What a destination wears: its own tags as they were written, with their levels, and then the groups they are in. */
export function tagsOf({ tags, effectiveTags }: Pick<NotifyDestination, 'tags' | 'effectiveTags'>): readonly string[] {
  const names = new Set(tags.map((tag) => tag.toLowerCase().replace(/^\d+:/, '')));
  return [...new Set([...tags, ...effectiveTags.filter((name) => !names.has(name))])];
}
