import { TopicName } from '../../contracts/push/topics.ts';
import { invalidField } from '../domain/invalid-field.ts';

/**
 * Validates the name of a topic.
 *
 * @throws Problem with the field `topic`
 */
export function parseTopic(text: string | undefined, reserved: ReadonlySet<string>): string {
  const topic = TopicName.safeParse(text);
  if (!topic.success) throw invalidField('topic', 'Use letters, digits, - and _ only, 64 at most.');
  if (reserved.has(topic.data)) throw invalidField('topic', `The name ${topic.data} is reserved. Choose another one.`);
  return topic.data;
}
