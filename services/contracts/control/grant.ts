import { z } from 'zod';

/** Access level of a grant; `none` denies and takes precedence over a shorter pattern. */
export const Permission = z.enum(['read-write', 'read', 'write', 'none']);
export type Permission = z.infer<typeof Permission>;

/** Permission for a resource pattern, in which `*` matches any characters: for push, topics such as `*-*-backup`. */
export const Grant = z.object({ service: z.string(), resource: z.string().min(1).max(128), permission: Permission });
export type Grant = z.infer<typeof Grant>;
