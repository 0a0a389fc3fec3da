import type { Message } from './message.ts';
import { foldTerms } from '../../kit/search-terms.ts';
import { isUnifiedPushTopic } from './topics.ts';

/**
 * Returns the words by which a message is found: those of its title, text and tags. Empty for encoded messages, which
 * are not readable as text.
 */
export function toSearchWords({ event, topic, title, message, tags, encoding }: Message): readonly string[] {
  if (event !== 'message' || encoding !== undefined || isUnifiedPushTopic(topic)) return [];
  return foldTerms([title, message, ...(tags ?? [])].join('\n'));
}
