import * as m from '#messages/push-problems';
import { TopicName } from '../../contracts/push/topics.ts';
import { invalidField } from '../domain/invalid-field.ts';

/**
 * Validates the name of a topic.
 *
 * @throws Problem with the field `topic`
 */
export function parseTopic(text: string | undefined, reserved: ReadonlySet<string>): string {
  const topic = TopicName.safeParse(text);
  if (!topic.success) throw invalidField('topic', m.topicInvalid());
  if (reserved.has(topic.data)) throw invalidField('topic', m.topicReserved({ topic: topic.data }));
  return topic.data;
}
