import { defaultPriority, parsePriority } from './priority.ts';
import { parseCommaList, type Parameters } from './parameters.ts';
import type { Message } from './message.ts';

/** Returns true when a subscriber receives the event. Without a filter, all events are received. */
export type Filter = (message: Message) => boolean;

/**
 * Parses the filters of a subscription: id, message and title match exactly, priority matches one of a list, tags match
 * all of a list. They apply to messages and to events that clear or delete messages.
 *
 * @throws Problem 40007
 */
export function parseFilter(read: Parameters): Filter | undefined {
  const id = read('x-id', 'id');
  const text = read('x-message', 'message', 'm');
  const title = read('x-title', 'title', 't');
  const tags = parseCommaList(read('x-tags', 'tags', 'tag', 'ta'));
  const priorities = parseCommaList(read('x-priority', 'priority', 'prio', 'p')).map(parsePriority);
  if (id === '' && text === '' && title === '' && tags.length === 0 && priorities.length === 0) return undefined;
  return (message) =>
    (id === '' || message.id === id) &&
    (text === '' || message.message === text) &&
    (title === '' || message.title === title) &&
    (priorities.length === 0 || priorities.includes(message.priority ?? defaultPriority)) &&
    tags.every((tag) => message.tags?.includes(tag) === true);
}
