import { z } from 'zod';
import { longestTemplate } from './format/template.ts';

const templates = z.looseObject({
  name: z.string().max(longestTemplate),
  description: z.string().max(longestTemplate),
});

/** In which texts streams are written. */
export const Formatting = z.looseObject({
  id: z.string().max(60),
  definitions: z
    .looseObject({
      custom: templates.nullish(),
      /** In place of the texts of formats that are known by name. */
      overrides: z.record(z.string().max(60), templates.nullish()).nullish(),
    })
    .nullish(),
  /** Older configurations have their own texts here. */
  definition: templates.nullish(),
});
