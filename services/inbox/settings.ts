import { z } from 'zod';

export const Settings = z.object({
  keepDays: z.int().min(1).max(3650).default(365).meta({
    live: true,
    unit: 'days',
    title: 'Keep messages for',
    description: 'Messages are deleted after this time, read or unread.',
  }),
});
export type Settings = z.infer<typeof Settings>;
