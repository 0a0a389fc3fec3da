import { TopicName } from '../../contracts/push/topics.ts';

/** Which addresses stand for topics of the push server: those at a domain, perhaps with a word in front. */
export interface TopicAddresses {
  readonly domain: string;
  readonly prefix: string;
}

export interface TopicAddress {
  readonly topic: string;
  /** Of an account that may publish there; undefined when the address has none. */
  readonly token: string | undefined;
  /** The address without the token. */
  readonly address: string;
}

/** Reads `<prefix><topic>[+<token>]@<domain>`; undefined for any other address. The topic keeps its case. */
export function parseTopicAddress(text: string, { domain, prefix }: TopicAddresses): TopicAddress | undefined {
  const at = text.lastIndexOf('@');
  if (domain === '' || text.slice(at + 1).toLowerCase() !== domain.toLowerCase()) return undefined;
  const [name = '', token] = text.slice(0, at).split('+');
  if (!name.toLowerCase().startsWith(prefix.toLowerCase())) return undefined;
  const topic = TopicName.safeParse(name.slice(prefix.length));
  if (!topic.success) return undefined;
  return { topic: topic.data, token: token || undefined, address: `${name}@${domain}` };
}
