import { TopicName } from '../../contracts/push/topics.ts';

/** Addresses that belong to push topics: those at a domain, optionally with a prefix. */
export interface TopicAddressOptions {
  readonly domain: string;
  readonly prefix: string;
}

export interface TopicAddress {
  readonly topic: string;
  /** Token of an account; undefined without one. */
  readonly token: string | undefined;
  /** Address without the token. */
  readonly address: string;
}

/** Parses `<prefix><topic>[+<token>]@<domain>`; undefined for other addresses. The topic is case-sensitive. */
export function parseTopicAddress(text: string, { domain, prefix }: TopicAddressOptions): TopicAddress | undefined {
  const atIndex = text.lastIndexOf('@');
  if (domain === '' || text.slice(atIndex + 1).toLowerCase() !== domain.toLowerCase()) return undefined;
  const [name = '', token] = text.slice(0, atIndex).split('+');
  if (!name.toLowerCase().startsWith(prefix.toLowerCase())) return undefined;
  const topic = TopicName.safeParse(name.slice(prefix.length));
  if (!topic.success) return undefined;
  return { topic: topic.data, token: token || undefined, address: `${name}@${domain}` };
}
