import { z } from 'zod';

export const Settings = z.object({
  keepDays: z
    .int()
    .min(1)
    .max(3650)
    .default(365)
    .meta({ live: true, title: 'Keep for', description: 'Days after which a message is removed, read or not.' }),
});
export type Settings = z.infer<typeof Settings>;
