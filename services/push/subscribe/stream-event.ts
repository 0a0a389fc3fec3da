import type { Context } from '../../contracts/service.ts';
import type { Event } from '../domain/message.ts';
import { toEnvelope, type Envelope } from './envelope.ts';

/** Builds an event about the stream itself. */
export function buildStreamEvent(
  event: Event,
  topicList: string,
  { clock, random }: Pick<Context, 'clock' | 'random'>,
): Envelope {
  return toEnvelope({ id: random.text(12), time: Math.floor(clock.now() / 1000), event, topic: topicList });
}
