import { liveTopic } from '../contracts/control/live.ts';
import {
  inboxAdded,
  inboxChanged,
  getInboxGrant,
  type InboxChanged,
  type InboxOrigin,
} from '../contracts/inbox/api.ts';
import type { Rights } from '../contracts/route-access.ts';

/** What pages hear of the inbox: the rows that somebody may read. */
export const live = [
  liveTopic(inboxAdded, (item, rights) => (mayReadPlace(item, rights) ? item : undefined)),
  liveTopic(inboxChanged, readablePart),
];

function mayReadPlace(place: InboxOrigin, rights: Rights): boolean {
  const { service, permission, resource } = getInboxGrant(place, 'read');
  return rights.all || rights.may(service, permission, resource);
}

function readablePart({ places = [], ...whole }: InboxChanged, rights: Rights): InboxChanged | undefined {
  if (rights.all) return whole;
  // All rows there are: whoever sees some reads them anew.
  if (whole.ids.length === 0) return { ...whole, unread: null };
  const ids = places.filter((place) => mayReadPlace(place, rights)).flatMap((place) => place.ids);
  return ids.length === 0 ? undefined : { ...whole, ids, unread: null };
}
