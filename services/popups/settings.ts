import { z } from 'zod';
import { QuietHours } from '../contracts/quiet-hours.ts';

export const Settings = z.object({});

/** Popup settings: fields of the group `host`, where they were stored before popups became a service. */
export const PopupSettings = z.object({
  popups: z.boolean().default(true).meta({
    title: 'Popups',
    description:
      'Messages pop up on this machine, unless their priority is low. The inbox gets all of them in any case.',
  }),
  popupSound: z.boolean().default(true).meta({
    title: 'Popup sound',
    description: 'Popups make a sound, where the system has one.',
  }),
  quietHours: z
    .array(QuietHours)
    .max(50)
    .default([])
    .meta({
      title: 'Quiet hours of popups',
      description:
        'When popups wait, by the clock of this machine, unless they follow the rules of an administrator. High and ' +
        'urgent messages pop up all the same; the others are summed up in one popup at the end.',
      hours: true,
    }),
  repeatUrgentMinutes: z.int().min(0).max(1440).default(15).meta({
    unit: 'minutes',
    title: 'Repeat urgent popups',
    description: 'How long until an urgent message that nobody has read pops up again. 0: it pops up once.',
  }),
});
export type PopupSettings = z.infer<typeof PopupSettings>;

export const environment = {
  HOMEPORT_POPUPS: 'popups',
  HOMEPORT_POPUP_SOUND: 'popupSound',
  HOMEPORT_QUIET_HOURS: 'quietHours',
  HOMEPORT_REPEAT_URGENT_MINUTES: 'repeatUrgentMinutes',
} as const;
