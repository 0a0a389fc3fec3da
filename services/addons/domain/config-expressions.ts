import { z } from 'zod';

const ids = z.array(z.string().max(500)).max(1000).nullish();
const expressionText = z.string().max(20_000);
/** Maximum number of expressions of one kind. */
export const maxExpressions = 2000;
const expressions = z
  .array(
    z.union([
      expressionText,
      z.looseObject({
        expression: expressionText,
        enabled: z.boolean().nullish(),
        score: z.number().min(-1_000_000).max(1_000_000).nullish(),
      }),
    ]),
  )
  .max(maxExpressions)
  .nullish();
export type ConfiguredExpressions = z.infer<typeof expressions>;

/** Fields of a configuration that contain expressions. */
export const expressionShape = {
  excludedStreamExpressions: expressions,
  includedStreamExpressions: expressions,
  requiredStreamExpressions: expressions,
  preferredStreamExpressions: expressions,
  rankedStreamExpressions: expressions,
  precacheNextEpisode: z.boolean().nullish(),
  alwaysPrecache: z.boolean().nullish(),
  precacheCondition: expressionText.nullish(),
  precacheSelector: expressionText.nullish(),
  precacheSingleStream: z.boolean().nullish(),
  dynamicAddonFetching: z
    .looseObject({
      enabled: z.boolean().nullish(),
      /** Expression that ends the wait when it is true. */
      condition: expressionText.nullish(),
      /** Number of streams that ends the wait for further addons. */
      minResults: z.number().min(1).max(1000).nullish(),
      resolution: z.string().max(20).nullish(),
      cachedOnly: z.boolean().nullish(),
    })
    .nullish(),
  /** Groups of addons that are requested sequentially, or in parallel with later groups discarded. */
  groups: z
    .looseObject({
      enabled: z.boolean().nullish(),
      groupings: z
        .array(z.looseObject({ addons: ids, condition: expressionText.nullish() }))
        .max(50)
        .nullish(),
      behaviour: z.enum(['parallel', 'sequential']).nullish(),
    })
    .nullish(),
};
