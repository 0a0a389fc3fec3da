import * as m from '#messages/notify';
import type { NotifyDestination } from '../../../../../services/contracts/notify/api.ts';
import { getKindTitle } from '../../../../../services/contracts/notify/kind-title.ts';
import { stripInvisible } from '../../../parts/text/plain-text.ts';
import { stripArguments } from './delivery-options.ts';

/** Formats the name of a destination: its kind, and its tags, because several may have the same kind. */
export function formatDestinationName({ tags, service }: Pick<NotifyDestination, 'tags' | 'service'>): string {
  return tags.length === 0 ? getKindTitle(service) : `${getKindTitle(service)} (${tags.join(', ')})`;
}

/**
 * Formats the location of a destination: its address without arguments, or a description for destinations in this
 * app.
 */
export function formatDestinationLocation({ url }: Pick<NotifyDestination, 'url'>): {
  readonly text: string;
  readonly isAddress: boolean;
} {
  const address = stripInvisible(stripArguments(url));
  if (/^inbox:\/\//.test(address)) return { text: m.inThisApp(), isAddress: false };
  const [, topic = ''] = /^push:\/\/([^/]+)\/?$/.exec(address) ?? [];
  return topic === '' ? { text: address, isAddress: true } : { text: m.topicTopic({ topic }), isAddress: false };
}
