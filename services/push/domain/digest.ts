/** How many messages of a topic are summed up. */
export interface Counted {
  readonly topic: string;
  readonly messages: number;
}

/** Topics that are named. */
const mostNamed = 5;

/** "7 messages while it was quiet", and below "backups 4, doors 3"; the topics come with the busiest first. */
export function digestOf(topics: readonly Counted[]): { readonly title: string; readonly message: string } {
  const total = topics.reduce((sum, { messages }) => sum + messages, 0);
  const named = topics.slice(0, mostNamed).map(({ topic, messages }) => `${topic} ${String(messages)}`);
  return {
    title: `${String(total)} ${total === 1 ? 'message' : 'messages'} while it was quiet`,
    message: [...named, ...(topics.length > mostNamed ? ['…'] : [])].join(', '),
  };
}
