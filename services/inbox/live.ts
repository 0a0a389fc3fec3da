import { liveTopic } from '../contracts/control/live.ts';
import {
  inboxAdded,
  inboxChanged,
  getInboxGrant,
  type InboxChanged,
  type InboxOrigin,
} from '../contracts/inbox/api.ts';
import type { Rights } from '../contracts/route-access.ts';

/** Live topics of the inbox, limited to rows that the caller may read. */
export const live = [
  liveTopic(inboxAdded, (item, rights) => (mayReadSource(item, rights) ? item : undefined)),
  liveTopic(inboxChanged, toReadableChange),
];

function mayReadSource(place: InboxOrigin, rights: Rights): boolean {
  const { service, permission, resource } = getInboxGrant(place, 'read');
  return rights.all || rights.may(service, permission, resource);
}

function toReadableChange({ places = [], ...change }: InboxChanged, rights: Rights): InboxChanged | undefined {
  if (rights.all) return change;
  // The change affects all rows: callers with access to some reload them.
  if (change.ids.length === 0) return { ...change, unread: null };
  const ids = places.filter((place) => mayReadSource(place, rights)).flatMap((place) => place.ids);
  return ids.length === 0 ? undefined : { ...change, ids, unread: null };
}
