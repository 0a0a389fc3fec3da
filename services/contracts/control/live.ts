import { accessChanged } from './access.ts';
import type { Topic } from '../bus.ts';
import { serviceChanged, settingsChanged, shownService } from './api.ts';
import { engineWorked } from './engines.ts';
import {
  downloadChanged,
  downloadLimitsChanged,
  downloadRemoved,
  downloadsMoved,
  downloadsPaused,
} from '../downloads/api.ts';
import { gitPushed } from '../git/topics.ts';
import { inboxAdded, inboxChanged, inboxGrant, type InboxChanged, type InboxPlace } from '../inbox/api.ts';
import { mailWorked } from '../mail/api.ts';
import { notifyWorked } from '../notify/notice.ts';
import { popupsChanged } from '../popups/popups.ts';
import { pushPlanned } from '../push/delayed.ts';
import { pushStored } from '../push/topics.ts';
import { mayRead, type NeededGrant, type Rights } from '../route-access.ts';
import { subscriptionChanged, subscriptionRemoved } from '../downloads/subscriptions.ts';

/**
 * A topic that pages get, and who gets its events. `user`: everybody who is signed in, since they show nothing that belongs
 * to anybody; `admin`: administrators; those who hold a grant; else a function that makes of an event what somebody may see,
 * undefined for nothing.
 */
export interface LiveTopic<T> {
  readonly topic: Topic<T>;
  readonly audience: 'user' | 'admin' | NeededGrant | ((event: T, rights: Rights) => T | undefined);
}

/**
 * The topics that pages get over `GET /api/events`, a Server-Sent Events stream: `event:` is the topic's name, `data:`
 * its payload, `id:` grows. A client that comes back with `Last-Event-ID` gets what it missed; where that is no longer
 * known (the host was started anew, or too long ago) the first event is `reset`, and the page reads its lists anew.
 */
export const liveTopics: readonly LiveTopic<any>[] = [
  live(serviceChanged, shownService),
  live(settingsChanged, 'admin'),
  live(inboxAdded, (item, rights) => (mayReadPlace(item, rights) ? item : undefined)),
  live(inboxChanged, readablePart),
  live(downloadChanged, mayRead('downloads')),
  live(downloadRemoved, mayRead('downloads')),
  live(downloadsMoved, mayRead('downloads')),
  live(downloadsPaused, mayRead('downloads')),
  live(downloadLimitsChanged, mayRead('downloads')),
  live(popupsChanged, 'admin'),
  live(accessChanged, 'user'),
  live(engineWorked, 'admin'),
  live(pushStored, 'user'),
  live(pushPlanned, 'user'),
  live(notifyWorked, 'admin'),
  live(mailWorked, 'admin'),
  live(subscriptionChanged, mayRead('downloads')),
  live(subscriptionRemoved, mayRead('downloads')),
  live(gitPushed, 'user'),
];

export const resetEvent = 'reset';

/** What somebody may see of an event; undefined: nothing. */
export function audible<T>({ audience }: LiveTopic<T>, event: T, rights: Rights): T | undefined {
  if (typeof audience === 'function') return audience(event, rights);
  if (rights.all || audience === 'user') return event;
  if (audience === 'admin') return undefined;
  return rights.may(audience.service, audience.permission, audience.resource) ? event : undefined;
}

function live<T>(topic: Topic<T>, audience: LiveTopic<T>['audience']): LiveTopic<T> {
  return { topic, audience };
}

function mayReadPlace(place: InboxPlace, rights: Rights): boolean {
  const { service, permission, resource } = inboxGrant(place, 'read');
  return rights.all || rights.may(service, permission, resource);
}

function readablePart({ places = [], ...whole }: InboxChanged, rights: Rights): InboxChanged | undefined {
  if (rights.all) return whole;
  const ids = places.filter((place) => mayReadPlace(place, rights)).flatMap((place) => place.ids);
  return ids.length === 0 ? undefined : { ...whole, ids, unread: null };
}
