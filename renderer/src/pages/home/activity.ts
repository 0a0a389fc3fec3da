import type { HostActivityEvent } from '../../../../services/contracts/control/overview.ts';
import type { InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { firstLine } from '../../parts/text/first-line.ts';
import { stripInvisible } from '../../parts/text/plain-text.ts';
import { splitSender } from '../../state/inbox/labels.ts';

const maxEntries = 6;

/** Row of the recent activity. */
interface ActivityEntry {
  readonly key: string;
  readonly service: string;
  readonly title: string;
  /** Source and further text. */
  readonly line: string;
  readonly href: string;
  readonly time: number;
  readonly priority: number;
  readonly isUnread: boolean;
}

type GetServiceTitle = (id: string) => string;

/** Merges messages of the inbox and events of services, newest first. */
export function listActivity(
  messages: readonly InboxItem[],
  events: readonly HostActivityEvent[],
  getServiceTitle: GetServiceTitle,
): readonly ActivityEntry[] {
  return [
    ...messages.slice(0, maxEntries).map((message) => fromMessage(message, getServiceTitle)),
    ...events.map((event) => fromEvent(event, getServiceTitle)),
  ]
    .toSorted((a, b) => b.time - a.time)
    .slice(0, maxEntries);
}

function fromMessage(message: InboxItem, getServiceTitle: GetServiceTitle): ActivityEntry {
  const { id, source, topic, time, priority, read } = message;
  const text = firstLine(message);
  const { title, sender } =
    source === 'mail'
      ? splitSender(stripInvisible(message.title))
      : { title: stripInvisible(message.title), sender: '' };
  const origin = sender || (source === 'push' && topic !== '' ? topic : getServiceTitle(source));
  return {
    key: `message:${String(id)}`,
    service: source,
    title: title || text,
    line: title === '' || text === '' ? origin : `${origin} · ${text}`,
    href: `/inbox/messages/${String(id)}`,
    time,
    priority,
    isUnread: !read,
  };
}

function fromEvent(event: HostActivityEvent, getServiceTitle: GetServiceTitle): ActivityEntry {
  const { id, service, title, detail, to, time } = event;
  const origin = getServiceTitle(service);
  return {
    key: `${service}:${id}`,
    service,
    title,
    line: detail === '' ? origin : `${origin} · ${detail}`,
    href: to,
    time,
    priority: 0,
    isUnread: false,
  };
}
