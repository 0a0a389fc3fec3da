import type { PushOffer } from '../../contracts/push.ts';
import type { Draft } from './message.ts';
import { emptyMessage } from './publication.ts';

/** A message that another service offers. One longer than `limit` bytes is cut; the inbox gets it whole. */
export function draftOf(offer: PushOffer, limit: number): Draft {
  const { topic, title, priority, tags, click, markdown, source, origin } = offer;
  const whole = offer.message.trim() || emptyMessage;
  return {
    event: 'message',
    topic,
    title,
    message: cut(whole, limit),
    priority,
    tags,
    ...(click !== undefined && { click }),
    markdown,
    cached: true,
    inbox: { key: origin, source, body: whole },
  };
}

const mark = '…';

function cut(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length < limit) return text;
  const room = limit - 1 - new TextEncoder().encode(mark).length;
  // Streaming: a character that does not fit as a whole is left out.
  return new TextDecoder().decode(bytes.subarray(0, room), { stream: true }) + mark;
}
