import type { Message } from './message.ts';

/** Maximum number of plaintext bytes that fit into the 4096 bytes every push service accepts (RFC 8291). */
const maxPayloadBytes = 3993;

/**
 * Builds the payload for a service worker: the message with ntfy's field names. A long message is shortened: first its
 * text, then its actions and attachment; the page loads the full message from the server. `options` are fields for
 * Homeport's own worker.
 */
export function buildPushPayload(subscriptionId: string, message: Message, options: object = {}): string {
  const serialize = (content: Message): string =>
    JSON.stringify({ event: 'message', subscription_id: subscriptionId, ...options, message: content });
  const full = serialize(message);
  if (Buffer.byteLength(full) <= maxPayloadBytes) return full;
  const { actions: _actions, attachment: _attachment, icon: _icon, ...reduced } = message;
  const base = Buffer.byteLength(serialize({ ...message, message: '' })) < maxPayloadBytes - 200 ? message : reduced;
  let text = base.message ?? '';
  while (text !== '') {
    text = text.slice(0, Math.floor(text.length * 0.9));
    // Drops an unpaired surrogate.
    const shortened = serialize({ ...base, message: `${text.replace(/[\uD800-\uDBFF]$/, '')}…` });
    if (Buffer.byteLength(shortened) <= maxPayloadBytes) return shortened;
  }
  return serialize({ id: message.id, time: message.time, event: message.event, topic: message.topic, message: '…' });
}
