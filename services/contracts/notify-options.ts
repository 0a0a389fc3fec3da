import { z } from 'zod';

/** What the owner of a key chooses for it. */
export const NotifyKeyOptions = z
  .object({
    /** Who gets a notice that names no tag: every destination, or, as with Apprise API, only those without one. */
    withoutTag: z.enum(['everyone', 'untagged']).default('everyone'),
  })
  .meta({ id: 'NotifyKeyOptions' });
export type NotifyKeyOptions = z.infer<typeof NotifyKeyOptions>;
