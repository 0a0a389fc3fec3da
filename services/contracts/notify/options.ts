import { z } from 'zod';

/** What the owner of a key chooses for it. */
export const NotifyKeyOptions = z
  .object({
    /** Who gets a notice that names no tag: every destination, or, as with Apprise API, only those without one. */
    withoutTag: z.enum(['everyone', 'untagged']).default('everyone'),
    /** Each destination is tried once and the caller waits for it; a failure is answered 424 and not repeated, as with Apprise API. */
    strict: z.boolean().default(false),
    /** A notice that is the same as one of the last so many seconds is not sent again; 0: always sent. */
    repeatSeconds: z.int().min(0).max(86_400).default(0),
    /** Over the peer's API administrators alone read and change its configuration; everybody goes on posting. */
    closed: z.boolean().default(false),
  })
  .meta({ id: 'NotifyKeyOptions' });
export type NotifyKeyOptions = z.infer<typeof NotifyKeyOptions>;

/** The secret a key shares with the programs that sign what they post to it; null for none. It is never read back. */
export const NotifyKeySecret = z.object({
  secret: z
    .string()
    .min(8, 'Use 8 characters at least.')
    .max(256)
    // Headers carry no other characters, and GitLab sends the secret itself in one.
    .regex(/^[\x21-\x7e]+$/, 'Use letters, digits and signs without spaces.')
    .nullable(),
});
