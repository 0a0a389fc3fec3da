import { z } from 'zod';
import { maxTemplateLength } from './format/template.ts';

const templates = z.looseObject({
  name: z.string().max(maxTemplateLength),
  description: z.string().max(maxTemplateLength),
});

/** In which texts streams are written. */
export const Formatting = z.looseObject({
  id: z.string().max(60),
  definitions: z
    .looseObject({
      custom: templates.nullish(),
      /** In place of the texts of formats that are known by name. */
      overrides: z.record(z.string().max(100), templates.nullish()).nullish(),
    })
    .nullish(),
  /** Older configurations have their own texts here. */
  definition: templates.nullish(),
});
