import { z } from 'zod';

/**
 * Request bodies of the account, administration and web push routes with ntfy's field names. Unknown fields are
 * ignored.
 */

export const Credential = z.object({ username: z.string().default(''), password: z.string().default('') });
export const User = Credential.extend({ hash: z.string().default('') });
export const UserName = z.object({ username: z.string().default('') });
export const Access = z.object({
  username: z.string().default(''),
  topic: z.string().default(''),
  permission: z.string().default(''),
});
export const PasswordChange = z.object({ password: z.string().default(''), new_password: z.string().default('') });
export const Confirmation = z.object({ password: z.string().default('') });

/** `expires` is in unix seconds; 0 means never. */
export const TokenRequest = z.object({
  token: z.string().optional(),
  label: z.string().optional(),
  expires: z.int().min(0).max(253_402_300_799).optional(),
});

const shortText = z.string().max(64);
const Notification = z.object({
  sound: shortText.optional(),
  min_priority: z.int().min(0).max(5).optional(),
  /** Seconds; 0 means never. */
  delete_after: z.int().min(0).optional(),
});
/** Preferences shared by the apps of an account. */
export const Preferences = z.object({
  language: shortText.optional(),
  date_format: shortText.optional(),
  time_format: shortText.optional(),
  notification: Notification.optional(),
});
export type Preferences = z.infer<typeof Preferences>;

export const Subscription = z.object({
  base_url: z.string().min(1).max(512),
  topic: z.string(),
  display_name: z.string().max(256).nullish(),
});

export const Reservation = z.object({ topic: z.string(), everyone: z.string() });
