import { defaultPriority, parsePriority } from './priority.ts';
import { commaList, type Parameters } from './parameters.ts';
import type { Message } from './message.ts';

/** Whether a subscriber wants this event; undefined in place of a filter means everything. */
export type Filter = (message: Message) => boolean;

/**
 * Reads the filters of a subscription: id, message and title are exact, priority is any of a list, tags are all of a
 * list. They look at messages and at what clears or deletes one.
 *
 * @throws Problem 40007
 */
export function parseFilter(read: Parameters): Filter | undefined {
  const id = read('x-id', 'id');
  const text = read('x-message', 'message', 'm');
  const title = read('x-title', 'title', 't');
  const tags = commaList(read('x-tags', 'tags', 'tag', 'ta'));
  const priorities = commaList(read('x-priority', 'priority', 'prio', 'p')).map(parsePriority);
  if (id === '' && text === '' && title === '' && tags.length === 0 && priorities.length === 0) return undefined;
  return (message) =>
    (id === '' || message.id === id) &&
    (text === '' || message.message === text) &&
    (title === '' || message.title === title) &&
    (priorities.length === 0 || priorities.includes(message.priority ?? defaultPriority)) &&
    tags.every((tag) => message.tags?.includes(tag) === true);
}
