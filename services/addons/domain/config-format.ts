import { z } from 'zod';
import { maxTemplateLength } from './format/template.ts';

const templates = z.looseObject({
  name: z.string().max(maxTemplateLength),
  description: z.string().max(maxTemplateLength),
});

/** Format of stream names and descriptions. */
export const FormatConfig = z.looseObject({
  id: z.string().max(60),
  definitions: z
    .looseObject({
      custom: templates.nullish(),
      /** Replaces templates of predefined formats. */
      overrides: z.record(z.string().max(100), templates.nullish()).nullish(),
    })
    .nullish(),
  /** Custom templates of older configurations. */
  definition: templates.nullish(),
});
