import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { findOwn } from '../../../contracts/find-own.ts';
import { inboxOffered } from '../../../contracts/inbox/api.ts';
import { getPriority } from '../../domain/notification-type.ts';
import { choiceField } from '../fields.ts';
import { defineScheme } from '../scheme.ts';

/** Urgencies of the desktop schemes of Apprise; the highest passes quiet hours. */
const urgencies: Readonly<Record<string, 3 | 4 | 5>> = {
  low: 3,
  moderate: 3,
  normal: 3,
  high: 4,
  critical: 4,
  emergency: 5,
};

/**
 * `popup://` and `windows`, `macosx`, `gnome`, `dbus`, `glib`, `qt` and `kde` of Apprise: a native popup on the
 * computer that runs Homeport. It is created by the inbox, so that quiet hours apply, it remains listed, and a
 * notification that also goes to the inbox exists once.
 */
export const popupKind = defineScheme({
  service: 'Popup',
  label: 'popup',
  handlesLink: true,
  protocols: ['popup', 'windows', 'macosx', 'gnome', 'dbus', 'glib', 'qt', 'kde'],
  secureProtocols: [],
  templates: ['{schema}://', '{schema}://_/'],
  args: ['urgency', 'priority'],
  overflow: 'upstream',
  form: {
    about: m.popupAbout,
    fields: [
      choiceField('urgency', m.urgency, 'query:urgency', [
        ['', m.byType],
        ['normal', m.normalInQuietHours],
        ['high', m.highInQuietHours],
        ['emergency', m.urgentUntilSeen],
      ]),
    ],
  },
  // All these schemes are equivalent, so a notification to two of them creates one popup.
  normalize: (url) => ({ ...url, scheme: 'popup', host: '', path: [], rawPath: '' }),
  open({ argument }) {
    const urgencyText = (argument('urgency') ?? argument('priority'))?.toLowerCase();
    const urgency =
      urgencyText === undefined
        ? undefined
        : (findOwn(urgencies, urgencyText) ?? ({ 0: 3, 1: 3, 2: 4 } as const)[urgencyText]);
    if (urgencyText !== undefined && urgency === undefined)
      return problems.argumentInvalid({ name: 'urgency', values: 'low, normal, high, emergency' });
    return async (message, { outlets }) => {
      await outlets.handovers.pass(inboxOffered, message.id, {
        title: message.title,
        body: message.body,
        format: message.format,
        priority: urgency ?? getPriority(message.type),
        tags: [...message.tags],
        source: message.source,
        topic: '',
        ...(message.link === undefined ? {} : { link: message.link }),
        time: message.time,
      });
    };
  },
});
