import * as m from '#messages/inbox-settings';
import { z } from 'zod';

export const Settings = z.object({
  keepDays: z.int().min(1).max(3650).default(365).meta({
    live: true,
    unit: 'days',
    label: m.keepDays,
    help: m.keepDaysHelp,
  }),
});
export type Settings = z.infer<typeof Settings>;
