import { z } from 'zod';

const texts = z.array(z.string().max(500)).max(1000).nullish();
const scope = {
  enabled: z.boolean().nullish(),
  /** `movie`, `series` or `anime`; empty applies to all. */
  requestTypes: texts,
  /** IDs of addons; empty applies to all. */
  addons: texts,
};
const tolerance = z.number().min(0).max(100).nullish();

const ReleaseFilter = z.looseObject({
  ...scope,
  /** Number of days before the release date. */
  tolerance: z.number().min(0).max(365).nullish(),
});

/** Fields of a configuration that compare streams with the requested title. */
export const matchingShape = {
  titleMatching: z
    .looseObject({
      ...scope,
      mode: z.enum(['exact', 'contains']).nullish(),
      /** Minimum similarity of titles. Without it, titles must be equal except for punctuation. */
      similarityThreshold: z.number().min(0).max(1).nullish(),
      matchYear: z.boolean().nullish(),
      yearTolerance: tolerance,
    })
    .nullish(),
  yearMatching: z
    .looseObject({
      ...scope,
      tolerance,
      /** Hides streams without a year. */
      strict: z.boolean().nullish(),
      /** Compares only the first year of a series. */
      useInitialAirDate: z.boolean().nullish(),
    })
    .nullish(),
  seasonEpisodeMatching: z.looseObject({ ...scope, strict: z.boolean().nullish() }).nullish(),
  /** Hides titles that are not released yet. Older configurations use a boolean. */
  digitalReleaseFilter: z
    .union([z.boolean().transform((enabled): z.infer<typeof ReleaseFilter> => ({ enabled })), ReleaseFilter])
    .nullish(),
};
