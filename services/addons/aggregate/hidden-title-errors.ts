import type { FilterResult } from '../domain/pipeline/pipeline.ts';
import type { ErrorItem } from './error-items.ts';

/** Explains an empty list when all streams of a title are hidden by its age rating or its release date. */
export function buildHiddenTitleErrors(hidden: readonly FilterResult[], title: string): readonly ErrorItem[] {
  const removals = hidden.flatMap(({ removal }) => (removal === undefined ? [] : [removal]));
  const matchingRemoval = removals.find(({ cause }) => cause !== undefined && cause !== 'duplicate');
  if (matchingRemoval === undefined) return [];
  const { cause, value } = matchingRemoval;
  if (cause === 'release_date')
    return [
      {
        title,
        sentence: `This is not released yet (${value}), and this configuration hides what cannot be the real thing.`,
      },
    ];
  const reason =
    value === 'Unknown'
      ? 'has no age rating that is known'
      : cause === 'nudity'
        ? `has ${value} nudity`
        : `is rated ${value}`;
  return [{ title, sentence: `This title ${reason}, which this configuration does not show.` }];
}
