import type { Topic } from '../bus.ts';
import type { NeededGrant, Rights } from '../route-access.ts';

/**
 * A topic that pages get, and who gets its events; services name theirs in their manifests. `user`: everybody who is signed
 * in, since they show nothing that belongs to anybody; `admin`: administrators; those who hold a grant; else a function that
 * makes of an event what somebody may see, undefined for nothing.
 *
 * Pages get them over `GET /api/events`, a Server-Sent Events stream: `event:` is the topic's name, `data:` its payload,
 * `id:` grows. A client that comes back with `Last-Event-ID` gets what it missed; where that is no longer known (the host
 * was started anew, or too long ago) the first event is `reset`, and the page reads its lists anew.
 */
export interface LiveTopic<T> {
  readonly topic: Topic<T>;
  readonly audience: 'user' | 'admin' | NeededGrant | ((event: T, rights: Rights) => T | undefined);
}

export const resetEvent = 'reset';

/** Lets TypeScript check the audience against the topic. */
export function liveTopic<T>(topic: Topic<T>, audience: LiveTopic<T>['audience']): LiveTopic<T> {
  return { topic, audience };
}

/** What somebody may see of an event; undefined: nothing. */
export function toVisibleEvent<T>({ audience }: LiveTopic<T>, event: T, rights: Rights): T | undefined {
  if (typeof audience === 'function') return audience(event, rights);
  if (rights.all || audience === 'user') return event;
  if (audience === 'admin') return undefined;
  return rights.may(audience.service, audience.permission, audience.resource) ? event : undefined;
}
