import { accessChanged } from './access.ts';
import type { Topic } from '../bus.ts';
import { serviceChanged, settingsChanged } from './api.ts';
import { engineWorked } from './engines.ts';
import {
  downloadChanged,
  downloadLimitsChanged,
  downloadRemoved,
  downloadsMoved,
  downloadsPaused,
} from '../downloads/api.ts';
import { inboxAdded, inboxChanged } from '../inbox/api.ts';
import { mailWorked } from '../mail/api.ts';
import { notifyWorked } from '../notify/notice.ts';
import { popupsChanged } from '../popups/popups.ts';
import { pushPlanned } from '../push/delayed.ts';
import { pushStored } from '../push/topics.ts';
import { subscriptionChanged, subscriptionRemoved } from '../downloads/subscriptions.ts';

/**
 * The topics that pages get over `GET /api/events`, a Server-Sent Events stream: `event:` is the topic's name, `data:`
 * its payload, `id:` grows. A client that comes back with `Last-Event-ID` gets what it missed; where that is no longer
 * known (the host was started anew, or too long ago) the first event is `reset`, and the page reads its lists anew.
 */
export const liveTopics = [
  serviceChanged,
  settingsChanged,
  inboxAdded,
  inboxChanged,
  downloadChanged,
  downloadRemoved,
  downloadsMoved,
  downloadsPaused,
  downloadLimitsChanged,
  popupsChanged,
  accessChanged,
  engineWorked,
  pushStored,
  pushPlanned,
  notifyWorked,
  mailWorked,
  subscriptionChanged,
  subscriptionRemoved,
] as const satisfies readonly Topic<any>[];

export const resetEvent = 'reset';
