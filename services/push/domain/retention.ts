import type { Message } from './message.ts';
import { matchesPattern } from './topics.ts';

/** Retention rule of a topic pattern: seconds and number of messages; null when not limited. */
export interface Rule {
  readonly pattern: string;
  readonly seconds: number | null;
  readonly most: number | null;
}

/** Returns the rule of a topic: the one with the longest matching pattern. */
export function findRule(rules: readonly Rule[], topic: string): Rule | undefined {
  let best: Rule | undefined;
  for (const rule of rules) {
    if (best !== undefined && rule.pattern.length <= best.pattern.length) continue;
    if (matchesPattern(rule.pattern, topic)) best = rule;
  }
  return best;
}

/** Limits the retention of a message and its file to `seconds` after its time; 0 means not cached. */
export function withMaxRetention(message: Message, seconds: number): Message {
  const { expires: currentExpiry, ...rest } = message;
  if (currentExpiry === undefined) return message;
  if (seconds === 0) return rest;
  const expires = Math.min(currentExpiry, message.time + seconds);
  if (expires === currentExpiry) return message;
  const { attachment } = message;
  if (attachment?.expires === undefined) return { ...message, expires };
  return { ...message, expires, attachment: { ...attachment, expires: Math.min(attachment.expires, expires) } };
}
