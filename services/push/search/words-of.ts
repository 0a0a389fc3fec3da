import type { Message } from '../domain/message.ts';
import { foldTerms } from '../../kit/search-words.ts';
import { isUnifiedPushTopic } from '../domain/topics.ts';

/** The words that a message is found by: of its title, text and tags. None for what no person could read. */
export function wordsOf({ event, topic, title, message, tags, encoding }: Message): readonly string[] {
  if (event !== 'message' || encoding !== undefined || isUnifiedPushTopic(topic)) return [];
  return foldTerms([title, message, ...(tags ?? [])].join('\n'));
}
