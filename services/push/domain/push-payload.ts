import type { Message } from './message.ts';

/** RFC 8291 leaves 3,993 bytes of plain text in the 4,096 that every push service takes. */
const longest = 3993;

/**
 * The text a browser's service worker gets: the message under the peer's names. One that is too long loses the end of
 * its text, then its buttons and attachment; the page reads the whole message from the server. `beside` it stands what only
 * our own worker knows.
 */
export function pushPayload(subscriptionId: string, message: Message, beside: object = {}): string {
  const write = (given: Message): string =>
    JSON.stringify({ event: 'message', subscription_id: subscriptionId, ...beside, message: given });
  const whole = write(message);
  if (Buffer.byteLength(whole) <= longest) return whole;
  const { actions: _actions, attachment: _attachment, icon: _icon, ...plain } = message;
  const kept = Buffer.byteLength(write({ ...message, message: '' })) < longest - 200 ? message : plain;
  let text = kept.message ?? '';
  while (text !== '') {
    text = text.slice(0, Math.floor(text.length * 0.9));
    // Half a character would come out as another one.
    const cut = write({ ...kept, message: `${text.replace(/[\uD800-\uDBFF]$/, '')}…` });
    if (Buffer.byteLength(cut) <= longest) return cut;
  }
  return write({ id: message.id, time: message.time, event: message.event, topic: message.topic, message: '…' });
}
