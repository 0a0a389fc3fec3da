import { z } from 'zod';

const texts = z.array(z.string().max(500)).max(1000).nullish();
const scope = {
  enabled: z.boolean().nullish(),
  /** `movie`, `series`, `anime`; empty: all. */
  requestTypes: texts,
  /** Ids of addons; empty: all. */
  addons: texts,
};
const tolerance = z.number().min(0).max(100).nullish();

const ReleaseFilter = z.looseObject({
  ...scope,
  /** Days before the date. */
  tolerance: z.number().min(0).max(365).nullish(),
});

/** The members of a configuration that compare streams with what was asked for. */
export const matchingShape = {
  titleMatching: z
    .looseObject({
      ...scope,
      mode: z.enum(['exact', 'contains']).nullish(),
      /** How alike titles must be; without it they are equal but for signs. */
      similarityThreshold: z.number().min(0).max(1).nullish(),
      matchYear: z.boolean().nullish(),
      yearTolerance: tolerance,
    })
    .nullish(),
  yearMatching: z
    .looseObject({
      ...scope,
      tolerance,
      /** What says no year is hidden. */
      strict: z.boolean().nullish(),
      /** Of a series the first year alone counts. */
      useInitialAirDate: z.boolean().nullish(),
    })
    .nullish(),
  seasonEpisodeMatching: z.looseObject({ ...scope, strict: z.boolean().nullish() }).nullish(),
  /** Hides what nobody can have yet. Older configurations switch it on with a mere yes. */
  digitalReleaseFilter: z
    .union([z.boolean().transform((enabled): z.infer<typeof ReleaseFilter> => ({ enabled })), ReleaseFilter])
    .nullish(),
};
