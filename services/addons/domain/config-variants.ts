import * as m from '#messages/addons-problems';
import { z } from 'zod';

export const maxVariants = 50;
export const maxScriptLength = 20_000;

/** Modifications of a configuration that an address selects. */
export const Variants = z
  .array(
    z.looseObject({
      id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, { error: m.variantIdInvalid }),
      name: z.string().max(200).nullish(),
      enabled: z.boolean().nullish(),
      /** Modifications, one instruction per line. */
      script: z.string().max(maxScriptLength),
    }),
  )
  .max(maxVariants)
  .nullish();
