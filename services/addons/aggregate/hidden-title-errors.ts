import * as m from '#messages/addons-problems';
import type { FilterResult } from '../domain/pipeline/pipeline.ts';
import type { ErrorItem } from './error-items.ts';

/** Explains an empty list when all streams of a title are hidden by its age rating or its release date. */
export function buildHiddenTitleErrors(hidden: readonly FilterResult[], title: string): readonly ErrorItem[] {
  const removals = hidden.flatMap(({ removal }) => (removal === undefined ? [] : [removal]));
  const matchingRemoval = removals.find(({ cause }) => cause !== undefined && cause !== 'duplicate');
  if (matchingRemoval === undefined) return [];
  const { cause, note, value } = matchingRemoval;
  if (note === 'no_date') return [{ title, sentence: m.titleNotReleasedYet() }];
  if (cause === 'release_date') return [{ title, sentence: m.titleNotReleased({ date: value }) }];
  if (note === 'unknown') return [{ title, sentence: m.titleNotRated() }];
  return [
    { title, sentence: cause === 'nudity' ? m.titleWithNudity({ nudity: value }) : m.titleRated({ rating: value }) },
  ];
}
