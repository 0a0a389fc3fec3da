import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { inboxOffered } from '../../../contracts/inbox/api.ts';
import { getPriority } from '../../domain/notification-type.ts';
import type { Destination, DestinationKind } from '../destination.ts';
import { toErrorResult } from '../result.ts';

const inbox: Destination = {
  service: 'Inbox',
  optional: false,
  url: () => 'inbox://',
  async send(message, { handovers }) {
    try {
      await handovers.pass(inboxOffered, message.id, {
        title: message.title,
        body: message.body,
        format: message.format,
        priority: getPriority(message.type),
        tags: [...message.tags],
        source: message.source,
        topic: '',
        ...(message.link === undefined ? {} : { link: message.link }),
        time: message.time,
      });
      return { ok: true, detail: 'Sent Inbox notification.' };
    } catch (error) {
      return toErrorResult(error, 'Failed to put the notification into the inbox');
    }
  },
};

/** `inbox://`: Homeport's inbox, in process. The notification's ID is its key, so it is stored once. */
export const inboxKind: DestinationKind = {
  service: 'Inbox',
  label: 'inbox',
  protocols: ['inbox'],
  secureProtocols: [],
  templates: ['{schema}://'],
  args: [],
  form: { about: m.inboxAbout, fields: [] },
  parse: (url) => (url.host === '' && url.path.length === 0 ? inbox : problems.inboxAddressInvalid()),
};
