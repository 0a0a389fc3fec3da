import type { NotifyDestination } from '../../../../services/contracts/notify/api.ts';
import { getKindTitle } from '../../../../services/contracts/notify/kind-title.ts';
import { plain } from '../../parts/text/plain.ts';
import { placeOf } from './delivery.ts';

/** What a destination is called: by its kind, and by the tags it was given, for several may be of one kind. */
export function destinationName({ tags, service }: Pick<NotifyDestination, 'tags' | 'service'>): string {
  return tags.length === 0 ? getKindTitle(service) : `${getKindTitle(service)} (${tags.join(', ')})`;
}

/** Where a destination is: its address without arguments; in words where it is in this app, whose addresses say little. */
export function destinationPlace({ url }: Pick<NotifyDestination, 'url'>): {
  readonly words: string;
  readonly isAddress: boolean;
} {
  const place = plain(placeOf(url));
  if (/^inbox:\/\//.test(place)) return { words: 'in this app', isAddress: false };
  const [, topic = ''] = /^push:\/\/([^/]+)\/?$/.exec(place) ?? [];
  return topic === '' ? { words: place, isAddress: true } : { words: `topic ${topic}`, isAddress: false };
}
