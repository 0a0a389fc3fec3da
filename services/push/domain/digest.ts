import * as m from '#messages/push-texts';
/** Number of held messages of a topic. */
export interface TopicCount {
  readonly topic: string;
  readonly messages: number;
}

/** Maximum number of topics listed in a digest. */
const maxListedTopics = 5;

/**
 * Builds the digest "7 messages during quiet hours" with a text such as "backups 4, doors 3". Topics are ordered by
 * number of messages.
 */
export function buildDigestText(topics: readonly TopicCount[]): { readonly title: string; readonly message: string } {
  const total = topics.reduce((sum, { messages }) => sum + messages, 0);
  const listed = topics.slice(0, maxListedTopics).map(({ topic, messages }) => `${topic} ${String(messages)}`);
  return {
    title: m.digestTitle({ count: total }),
    message: [...listed, ...(topics.length > maxListedTopics ? ['…'] : [])].join(', '),
  };
}
