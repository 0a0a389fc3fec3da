import { z } from 'zod';

const mode = z.enum(['single_result', 'per_service', 'per_addon', 'disabled']).nullish();

/** How streams that are the same are found, and which of them stays. */
export const Deduplicator = z.looseObject({
  enabled: z.boolean().nullish(),
  keys: z.array(z.enum(['filename', 'infoHash', 'smartDetect'])).nullish(),
  multiGroupBehaviour: z.enum(['aggressive', 'conservative', 'keep_all']).nullish(),
  cached: mode,
  uncached: mode,
  p2p: mode,
  http: mode,
  live: mode,
  youtube: mode,
  external: mode,
  excludeAddons: z.array(z.string().max(500)).max(500).nullish(),
  /** What `smartDetect` compares; names that are not known here say nothing of a stream. */
  smartDetectAttributes: z.array(z.string().max(60)).max(50).nullish(),
  /** Sizes within so many percent are the same. */
  smartDetectRounding: z.number().min(1).max(50).nullish(),
  libraryBehaviour: z.enum(['ignore', 'prefer', 'exclusive']).nullish().catch(null),
  tiebreakers: z
    .array(z.looseObject({ type: z.string().max(60), position: z.enum(['before_addon', 'after_addon']) }))
    .max(20)
    .nullish(),
});
