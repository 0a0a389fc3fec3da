import type { FilterResult } from '../domain/pipeline/pipeline.ts';
import type { ErrorItem } from './error-items.ts';

/** Explains an empty list when all streams of a title are hidden by its age rating or its release date. */
export function buildHiddenTitleErrors(hidden: readonly FilterResult[], title: string): readonly ErrorItem[] {
  const matchingRemoval = hidden.find(({ removal }) =>
    /^Not Released$|(?:Certification|Nudity)$/.test(removal?.rule ?? ''),
  )?.removal;
  if (matchingRemoval === undefined) return [];
  const { rule, value } = matchingRemoval;
  if (rule === 'Not Released')
    return [
      {
        title,
        sentence: `This is not released yet (${value}), and this configuration hides what cannot be the real thing.`,
      },
    ];
  const reason =
    value === 'Unknown'
      ? 'has no age rating that is known'
      : rule.endsWith('Nudity')
        ? `has ${value} nudity`
        : `is rated ${value}`;
  return [{ title, sentence: `This title ${reason}, which this configuration does not show.` }];
}
