import * as m from '#messages/notify-problems';
import { z } from 'zod';

/** Options of a configuration key. */
export const NotifyKeyOptions = z
  .object({
    /** Recipients of a notification without tag: all destinations or, as in Apprise API, only untagged ones. */
    withoutTag: z.enum(['everyone', 'untagged']).default('everyone'),
    /**
     * Each destination is tried once while the caller waits; a failure is answered with 424 and not retried, as in
     * Apprise API.
     */
    strict: z.boolean().default(false),
    /** Suppresses a notification that equals one of the last seconds; 0 disables it. */
    repeatSeconds: z.int().min(0).max(86_400).default(0),
    /** Only administrators may read and change the configuration over the peer's API; posting is not affected. */
    closed: z.boolean().default(false),
  })
  .meta({ id: 'NotifyKeyOptions' });
export type NotifyKeyOptions = z.infer<typeof NotifyKeyOptions>;

/** Secret shared with programs that sign their requests; null for none. It cannot be read back. */
export const NotifyKeySecret = z.object({
  secret: z
    .string()
    .min(8, { error: m.secretTooShort })
    .max(256)
    // GitLab sends the secret in a header, so only header characters are accepted.
    .regex(/^[\x21-\x7e]+$/, { error: m.secretInvalid })
    .nullable(),
});
