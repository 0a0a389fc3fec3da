import type { NotifyDestination } from '../../../../services/contracts/notify/api.ts';

/** What a destination wears: its own tags as they were written, with their levels, and then the groups they are in. */
export function tagsOf({ tags, worn }: Pick<NotifyDestination, 'tags' | 'worn'>): readonly string[] {
  const names = new Set(tags.map((tag) => tag.toLowerCase().replace(/^\d+:/, '')));
  return [...new Set([...tags, ...worn.filter((name) => !names.has(name))])];
}
