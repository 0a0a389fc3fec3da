import { z } from 'zod';
import { QuietHours } from '../contracts/quiet-hours.ts';

export const Settings = z.object({});

/** Popup settings: fields of the group `host`, where they were stored before popups became a service. */
export const PopupSettings = z.object({
  popups: z.boolean().default(true).meta({
    title: 'Popups',
    description:
      'Shows messages as popups on this computer, unless their priority is low. All messages appear in the inbox.',
  }),
  popupSound: z.boolean().default(true).meta({
    title: 'Popup sound',
    description: 'Plays a sound with popups, if the system supports it.',
  }),
  quietHours: z
    .array(QuietHours)
    .max(50)
    .default([])
    .meta({
      title: 'Popup quiet hours',
      description:
        'Times without popups, in the time zone of this computer, unless they follow the rules of an ' +
        'administrator. High and urgent messages still pop up; the others are summarized in one popup at ' +
        'the end.',
      hours: true,
    }),
  repeatUrgentMinutes: z.int().min(0).max(1440).default(15).meta({
    unit: 'minutes',
    title: 'Repeat urgent popups',
    description: 'How long until an unread urgent message pops up again. Set to 0 to show it once.',
  }),
});
export type PopupSettings = z.infer<typeof PopupSettings>;

export const environment = {
  HOMEPORT_POPUPS: 'popups',
  HOMEPORT_POPUP_SOUND: 'popupSound',
  HOMEPORT_QUIET_HOURS: 'quietHours',
  HOMEPORT_REPEAT_URGENT_MINUTES: 'repeatUrgentMinutes',
} as const;
