import { nameToEmoji } from 'gemoji';
import type { Message } from './message.ts';
import { defaultPriority } from './priority.ts';

const priorities: Readonly<Record<number, string>> = { 1: 'min', 2: 'low', 4: 'high', 5: 'max' };

/** A message as mail: its subject and text are those of the peer. `sender` is the address of who published it. */
export function emailOf(
  { title, message = '', tags = [], priority = defaultPriority, time, topic }: Message,
  { sender, baseUrl }: { readonly sender: string; readonly baseUrl: string },
): { readonly subject: string; readonly body: string } {
  const emojis = tags.flatMap((tag) => (Object.hasOwn(nameToEmoji, tag) ? (nameToEmoji[tag] ?? []) : []));
  const words = tags.filter((tag) => !Object.hasOwn(nameToEmoji, tag));
  const trailer = [
    ...(words.length > 0 ? [`Tags: ${words.join(', ')}`] : []),
    ...(priority === defaultPriority ? [] : [`Priority: ${priorities[priority] ?? String(priority)}`]),
  ];
  const subject = (title ?? message).replaceAll('\r', '').replaceAll('\n', ' ');
  const at = new Date(time * 1000).toUTCString().replace('GMT', 'UTC');
  return {
    subject: [...emojis, subject].join(' '),
    body: [
      message,
      ...(trailer.length > 0 ? [trailer.join('\n')] : []),
      `--\nThis message was sent by ${sender} at ${at} via ${baseUrl}/${topic}`,
    ].join('\n\n'),
  };
}
