import { z } from 'zod';

/** Settings of one catalog. */
export const CatalogModification = z.looseObject({
  id: z.string().max(500),
  type: z.string().max(100),
  name: z.string().max(300).nullish(),
  enabled: z.boolean().nullish(),
  reverse: z.boolean().nullish(),
  shuffle: z.boolean().nullish(),
  /** Duration of a shuffled order in hours. */
  persistShuffleFor: z
    .number()
    .min(0)
    .max(24 * 365)
    .nullish(),
  onlyOnDiscover: z.boolean().nullish(),
  onlyOnSearch: z.boolean().nullish(),
  disableSearch: z.boolean().nullish(),
  overrideType: z.string().max(100).nullish(),
});
export type CatalogModification = z.infer<typeof CatalogModification>;

/** Definition of a merged catalog. */
export const MergedCatalog = z.looseObject({
  id: z.string().min(1).max(500),
  name: z.string().min(1).max(300),
  type: z.string().min(1).max(100),
  /** `id=…&type=…` of each source, URL-encoded. */
  catalogIds: z.array(z.string().max(2000)).max(500),
  enabled: z.boolean().nullish(),
  mergeMethod: z.enum(['sequential', 'interleave', 'imdbRating', 'releaseDateAsc', 'releaseDateDesc']).nullish(),
  deduplicationMethods: z.array(z.enum(['id', 'title'])).nullish(),
});
export type MergedCatalog = z.infer<typeof MergedCatalog>;
