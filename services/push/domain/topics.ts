import { TopicName } from '../../contracts/push/topics.ts';
import { refuse } from './refusals.ts';

const name = '[-_A-Za-z0-9]{1,64}';
const topicPattern = new RegExp(`^${name}$`);
const listPattern = new RegExp(`^${name}(,${name})*$`);

/** Names that are no topics because a path of the peer or of ours begins with them. */
export const reservedTopics: readonly string[] = [
  'docs',
  'static',
  'file',
  'app',
  'metrics',
  'account',
  'settings',
  'signup',
  'login',
  'v1',
];

/** A path segment that may be a topic, or the id of a sequence, which follows the same rule. */
export function isTopic(text: string): boolean {
  return topicPattern.test(text);
}

/** The form that UnifiedPush apps give their topics: nobody can guess one. */
export function isUnifiedPushTopic(text: string): boolean {
  return /^up[A-Za-z0-9]{12}$/.test(text);
}

/** A path segment that may be a comma list of topics. */
export function isTopicList(text: string): boolean {
  return listPattern.test(text);
}

/** A pattern of topics in a grant: a topic's letters and `*` for any run of characters. */
export function isTopicPattern(text: string): boolean {
  return /^[-_*A-Za-z0-9]{1,64}$/.test(text);
}

/** Whether a topic is one of a pattern, in which `*` stands for any run of characters. */
export function matchesPattern(pattern: string, topic: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return topic === pattern;
  if (topic.length < first.length + last.length || !topic.startsWith(first) || !topic.endsWith(last)) return false;
  let at = first.length;
  const end = topic.length - last.length;
  for (const part of rest) {
    const found = topic.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** @throws Problem 40009 for what is no topic name, 40010 for a reserved one. */
export function requireTopic(text: unknown, reserved: ReadonlySet<string>): string {
  const topic = TopicName.safeParse(text);
  if (!topic.success) throw refuse('topic_invalid');
  if (reserved.has(topic.data)) throw refuse('topic_reserved');
  return topic.data;
}
