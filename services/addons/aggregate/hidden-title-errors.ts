import type { Verdict } from '../domain/pipeline/pipeline.ts';
import type { ShownError } from './error-items.ts';

/** Explains an empty list when all streams of a title are hidden by its age rating or its release date. */
export function keptAway(hidden: readonly Verdict[], title: string): readonly ShownError[] {
  const found = hidden.find(({ removal }) =>
    /^Not Released$|(?:Certification|Nudity)$/.test(removal?.rule ?? ''),
  )?.removal;
  if (found === undefined) return [];
  const { rule, value } = found;
  if (rule === 'Not Released')
    return [
      {
        title,
        sentence: `This is not released yet (${value}), and this configuration hides what cannot be the real thing.`,
      },
    ];
  const what =
    value === 'Unknown'
      ? 'has no age rating that is known'
      : rule.endsWith('Nudity')
        ? `has ${value} nudity`
        : `is rated ${value}`;
  return [{ title, sentence: `This title ${what}, which this configuration does not show.` }];
}
