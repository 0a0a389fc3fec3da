import type { Message } from './message.ts';
import { matchesPattern } from './topics.ts';

/** How long the messages of some topics are kept, in seconds, and how many; null: nothing is said about it. */
export interface Rule {
  readonly pattern: string;
  readonly seconds: number | null;
  readonly most: number | null;
}

/** The rule for a topic: of those that fit the one with the longest pattern. */
export function ruleFor(rules: readonly Rule[], topic: string): Rule | undefined {
  let best: Rule | undefined;
  for (const rule of rules) {
    if (best !== undefined && rule.pattern.length <= best.pattern.length) continue;
    if (matchesPattern(rule.pattern, topic)) best = rule;
  }
  return best;
}

/** A message that is kept no longer than this, in seconds after its time; its file goes with it. 0: it is not kept. */
export function keptFor(message: Message, seconds: number): Message {
  const { expires: said, ...rest } = message;
  if (said === undefined) return message;
  if (seconds === 0) return rest;
  const expires = Math.min(said, message.time + seconds);
  if (expires === said) return message;
  const { attachment } = message;
  if (attachment?.expires === undefined) return { ...message, expires };
  return { ...message, expires, attachment: { ...attachment, expires: Math.min(attachment.expires, expires) } };
}
