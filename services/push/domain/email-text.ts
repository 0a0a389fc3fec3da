import { nameToEmoji } from 'gemoji';
import type { Message } from './message.ts';
import { defaultPriority } from './priority.ts';

const priorityNames: Readonly<Record<number, string>> = { 1: 'min', 2: 'low', 4: 'high', 5: 'max' };

/** Formats a message as mail with ntfy's subject and text. `sender` is the address of the publisher. */
export function formatEmail(
  { title, message = '', tags = [], priority = defaultPriority, time, topic }: Message,
  { sender, baseUrl }: { readonly sender: string; readonly baseUrl: string },
): { readonly subject: string; readonly body: string } {
  const emojis = tags.flatMap((tag) => (Object.hasOwn(nameToEmoji, tag) ? (nameToEmoji[tag] ?? []) : []));
  const otherTags = tags.filter((tag) => !Object.hasOwn(nameToEmoji, tag));
  const trailer = [
    ...(otherTags.length > 0 ? [`Tags: ${otherTags.join(', ')}`] : []),
    ...(priority === defaultPriority ? [] : [`Priority: ${priorityNames[priority] ?? String(priority)}`]),
  ];
  const subject = (title ?? message).replaceAll('\r', '').replaceAll('\n', ' ');
  const sentAt = new Date(time * 1000).toUTCString().replace('GMT', 'UTC');
  return {
    subject: [...emojis, subject].join(' '),
    body: [
      message,
      ...(trailer.length > 0 ? [trailer.join('\n')] : []),
      `--\nThis message was sent by ${sender} at ${sentAt} via ${baseUrl}/${topic}`,
    ].join('\n\n'),
  };
}
