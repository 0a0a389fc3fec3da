import type { NotifyDestination } from '../../../../../services/contracts/notify/api.ts';

/** Returns the tags of a destination: its own with their levels as they were typed, then those of its groups. */
export function getTags({ tags, effectiveTags }: Pick<NotifyDestination, 'tags' | 'effectiveTags'>): readonly string[] {
  const names = new Set(tags.map((tag) => tag.toLowerCase().replace(/^\d+:/, '')));
  return [...new Set([...tags, ...effectiveTags.filter((name) => !names.has(name))])];
}
