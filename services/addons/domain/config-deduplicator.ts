import { z } from 'zod';

const mode = z.enum(['single_result', 'per_service', 'per_addon', 'disabled']).nullish();

/** Options for the detection and removal of duplicates. */
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
  /** Attributes that `smartDetect` compares. Unknown names are ignored. */
  smartDetectAttributes: z.array(z.string().max(60)).max(50).nullish(),
  /** Sizes within this percentage are equal. */
  smartDetectRounding: z.number().min(1).max(50).nullish(),
  libraryBehaviour: z.enum(['ignore', 'prefer', 'exclusive']).nullish().catch(null),
  tiebreakers: z
    .array(z.looseObject({ type: z.string().max(60), position: z.enum(['before_addon', 'after_addon']) }))
    .max(20)
    .nullish(),
});
