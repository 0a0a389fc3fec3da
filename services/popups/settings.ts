import * as m from '#messages/popups-settings';
import { z } from 'zod';
import { QuietHours } from '../contracts/quiet-hours.ts';

export const Settings = z.object({});

/** Popup settings: fields of the group `host`, where they were stored before popups became a service. */
export const PopupSettings = z.object({
  popups: z.boolean().default(true).meta({
    label: m.popups,
    help: m.popupsHelp,
  }),
  popupSound: z.boolean().default(true).meta({
    label: m.popupSound,
    help: m.popupSoundHelp,
  }),
  quietHours: z.array(QuietHours).max(50).default([]).meta({
    label: m.quietHours,
    help: m.quietHoursHelp,
    hours: true,
  }),
  repeatUrgentMinutes: z.int().min(0).max(1440).default(15).meta({
    unit: 'minutes',
    label: m.repeatUrgentMinutes,
    help: m.repeatUrgentMinutesHelp,
  }),
});
export type PopupSettings = z.infer<typeof PopupSettings>;

export const environment = {
  HOMEPORT_POPUPS: 'popups',
  HOMEPORT_POPUP_SOUND: 'popupSound',
  HOMEPORT_QUIET_HOURS: 'quietHours',
  HOMEPORT_REPEAT_URGENT_MINUTES: 'repeatUrgentMinutes',
} as const;
