import type { PushOutcome } from '../contracts/push/rules.ts';
import type { InboxItem } from '../contracts/inbox/api.ts';
import type { Popup } from '../contracts/popups/desktop.ts';
import { formatCount } from '../kit/format-count.ts';
import type { Tally } from './tally.ts';
import { bodyText, titleText } from './text.ts';

/** What happens to a message that reached the inbox. */
export type Handling = 'inbox only' | 'hold' | 'hold with topic' | 'show';

/**
 * Priorities as the push server defines them: 1 and 2 only reach the inbox, 3 waits while it is quiet or paused, 4 and
 * 5 always pop up. `outcome`: what the rules say that popups follow.
 */
export function handlingOf(
  item: Pick<InboxItem, 'priority' | 'read' | 'done'>,
  now: { readonly enabled: boolean; readonly quiet: boolean },
  outcome: PushOutcome = 'show',
): Handling {
  if (!now.enabled || item.read || item.done || item.priority <= 2) return 'inbox only';
  if (outcome === 'quietly') return 'inbox only';
  if (outcome === 'hold') return 'hold with topic';
  return item.priority === 3 && now.quiet ? 'hold' : 'show';
}

/** A message's text as a popup shows it, and where a click leads; small enough to be kept. */
export interface Brief {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly source: string;
  readonly priority: number;
  readonly link: string | null;
  /** Minutes between its reminders; null: as the settings say. */
  readonly repeatMinutes: number | null;
}

export function briefOf(item: InboxItem, repeatMinutes: number | null = null): Brief {
  const source = titleText(item.source);
  const body = bodyText(item.body, item.format);
  const title = titleText(item.title);
  return {
    id: item.id,
    title: title === '' ? `Message from ${source === '' ? 'Homeport' : source}` : title,
    body,
    source,
    priority: item.priority,
    link: webAddress(item.link),
    repeatMinutes,
  };
}

/** The popup of one message. */
export function messagePopup(brief: Brief, sound: boolean): Popup {
  return {
    id: `message-${String(brief.id)}`,
    title: brief.title,
    body: brief.body,
    urgency: urgencyOf(brief.priority),
    actions: [{ id: 'read', label: 'Mark as read' }],
    silent: !sound,
    group: brief.source,
  };
}

/** "7 messages while it was quiet" */
export function heldPopup(held: Tally, sound: boolean): Popup {
  return {
    id: 'held',
    title: `${formatCount(held.size, 'message')} while it was quiet`,
    body: listed(held),
    urgency: 'normal',
    actions: [],
    silent: !sound,
    group: 'Homeport',
  };
}

/** "12 new from mail"; without a source "12 new messages". */
export function burstPopup(source: string, burst: Tally, sound: boolean): Popup {
  const name = titleText(source);
  return {
    id: `burst-${name}`,
    title: titleText(name === '' ? `${String(burst.size)} new messages` : `${String(burst.size)} new from ${name}`),
    body: name === '' ? listed(burst) : '',
    urgency: urgencyOf(burst.priority),
    actions: [],
    silent: !sound,
    group: name === '' ? 'Homeport' : name,
  };
}

/** The reminder of urgent messages nobody has seen; of a single one its own popup is shown again. */
export function urgentPopup(briefs: readonly Brief[], sound: boolean): Popup | undefined {
  const [first] = briefs;
  if (first === undefined) return undefined;
  if (briefs.length === 1) return messagePopup(first, sound);
  return {
    id: 'urgent',
    title: `${String(briefs.length)} urgent messages are unread`,
    body: bodyText(briefs.map(({ title }) => title).join('\n'), 'text'),
    urgency: 'critical',
    actions: [],
    silent: !sound,
    group: 'Homeport',
  };
}

/** The address in its normal form if it is one of the web; anything else leads nowhere. */
export function webAddress(link: string | null): string | null {
  const url = link === null ? null : URL.parse(link);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : null;
}

function urgencyOf(priority: number): Popup['urgency'] {
  return priority >= 5 ? 'critical' : priority <= 2 ? 'low' : 'normal';
}

/** "mail 4, push 3" */
function listed(tally: Tally): string {
  const sources = tally.sources();
  const named = sources.slice(0, 5).map(([source, count]) => `${titleText(source)} ${String(count)}`);
  return bodyText([...named, ...(sources.length > 5 ? ['…'] : [])].join(', '), 'text');
}
