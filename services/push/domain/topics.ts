import { TopicName } from '../../contracts/push/topics.ts';
import { refuse } from './refusals.ts';

const topicName = '[-_A-Za-z0-9]{1,64}';
const topicPattern = new RegExp(`^${topicName}$`);
const listPattern = new RegExp(`^${topicName}(,${topicName})*$`);

/** Names that are not allowed as topics because paths of ntfy or Homeport begin with them. */
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

/** Returns true for a valid topic or sequence id, which have the same syntax. */
export function isTopic(text: string): boolean {
  return topicPattern.test(text);
}

/** Returns true for topics in the form of UnifiedPush applications, which cannot be guessed. */
export function isUnifiedPushTopic(text: string): boolean {
  return /^up[A-Za-z0-9]{12}$/.test(text);
}

/** Returns true for a comma-separated list of topics. */
export function isTopicList(text: string): boolean {
  return listPattern.test(text);
}

/** Returns true for a valid topic pattern of a grant: topic characters and `*`. */
export function isTopicPattern(text: string): boolean {
  return /^[-_*A-Za-z0-9]{1,64}$/.test(text);
}

/** Returns true when a topic matches a pattern, in which `*` matches any characters. */
export function matchesPattern(pattern: string, topic: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return topic === pattern;
  if (topic.length < first.length + last.length || !topic.startsWith(first) || !topic.endsWith(last)) return false;
  let position = first.length;
  const end = topic.length - last.length;
  for (const part of rest) {
    const index = topic.indexOf(part, position);
    if (index < 0 || index + part.length > end) return false;
    position = index + part.length;
  }
  return true;
}

/**
 * Validates a topic.
 *
 * @throws Problem 40009 for an invalid name, 40010 for a reserved one
 */
export function requireTopic(text: unknown, reserved: ReadonlySet<string>): string {
  const topic = TopicName.safeParse(text);
  if (!topic.success) throw refuse('topic_invalid');
  if (reserved.has(topic.data)) throw refuse('topic_reserved');
  return topic.data;
}
