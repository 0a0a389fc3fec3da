import * as m from '#messages/popups-texts';
import { formatNumber } from '../../messages/format.ts';
import type { PushOutcome } from '../contracts/push/rules.ts';
import type { InboxItem } from '../contracts/inbox/api.ts';
import type { Popup } from '../contracts/popups/desktop.ts';
import type { Tally } from './tally.ts';
import { formatBody, formatTitle } from './text.ts';

/** Handling of a message that reached the inbox. */
export type Handling = 'inbox-only' | 'hold' | 'hold-with-topic' | 'show';

/**
 * Decides by priority as defined by push: 1 and 2 only reach the inbox, 3 is held during quiet hours or a pause, 4 and
 * 5 are always shown. `outcome` is the result of the followed rules.
 */
export function getHandling(
  item: Pick<InboxItem, 'priority' | 'read' | 'done'>,
  now: { readonly enabled: boolean; readonly quiet: boolean },
  outcome: PushOutcome = 'show',
): Handling {
  if (!now.enabled || item.read || item.done || item.priority <= 2) return 'inbox-only';
  if (outcome === 'quietly') return 'inbox-only';
  if (outcome === 'hold') return 'hold-with-topic';
  return item.priority === 3 && now.quiet ? 'hold' : 'show';
}

/** Text of a message for a popup and its link; small enough to be saved. */
export interface Brief {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly source: string;
  readonly priority: number;
  readonly link: string | null;
  /** Minutes between reminders; null to use the setting. */
  readonly repeatMinutes: number | null;
}

export function toBrief(item: InboxItem, repeatMinutes: number | null = null): Brief {
  const source = formatTitle(item.source);
  const body = formatBody(item.body, item.format);
  const title = formatTitle(item.title);
  return {
    id: item.id,
    title: title === '' ? m.messageFrom({ source: source === '' ? 'Homeport' : source }) : title,
    body,
    source,
    priority: item.priority,
    link: toWebUrl(item.link),
    repeatMinutes,
  };
}

/** Builds the popup of one message. */
export function buildMessagePopup(brief: Brief, sound: boolean): Popup {
  return {
    id: `message-${String(brief.id)}`,
    title: brief.title,
    body: brief.body,
    urgency: toUrgency(brief.priority),
    actions: [{ id: 'read', label: m.markAsRead() }],
    silent: !sound,
    group: brief.source,
  };
}

/** Builds the summary of the messages that were held back. */
export function buildHeldPopup(state: Tally, sound: boolean): Popup {
  return {
    id: 'held',
    title: m.heldMessages({ count: state.size }),
    body: formatSources(state),
    urgency: 'normal',
    actions: [],
    silent: !sound,
    group: 'Homeport',
  };
}

/** Builds the summary "12 new messages from mail", or "12 new messages" without source. */
export function buildBurstPopup(source: string, burst: Tally, sound: boolean): Popup {
  const name = formatTitle(source);
  return {
    id: `burst-${name}`,
    title: formatTitle(
      name === '' ? m.newMessages({ count: burst.size }) : m.newFrom({ count: burst.size, source: name }),
    ),
    body: name === '' ? formatSources(burst) : '',
    urgency: toUrgency(burst.priority),
    actions: [],
    silent: !sound,
    group: name === '' ? 'Homeport' : name,
  };
}

/** Builds the reminder of unread urgent messages; for a single one, its own popup. */
export function buildUrgentPopup(briefs: readonly Brief[], sound: boolean): Popup | undefined {
  const [first] = briefs;
  if (first === undefined) return undefined;
  if (briefs.length === 1) return buildMessagePopup(first, sound);
  return {
    id: 'urgent',
    title: m.urgentUnread({ count: briefs.length }),
    body: formatBody(briefs.map(({ title }) => title).join('\n'), 'text'),
    urgency: 'critical',
    actions: [],
    silent: !sound,
    group: 'Homeport',
  };
}

/** Returns the normalized URL of a web address; null for other links. */
export function toWebUrl(link: string | null): string | null {
  const url = link === null ? null : URL.parse(link);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : null;
}

function toUrgency(priority: number): Popup['urgency'] {
  return priority >= 5 ? 'critical' : priority <= 2 ? 'low' : 'normal';
}

/** Formats sources such as "mail 4, push 3". */
function formatSources(state: Tally): string {
  const sources = state.sources();
  const labels = sources
    .slice(0, 5)
    .map(([source, count]) => m.sourceCount({ source: formatTitle(source), count: formatNumber(count) }));
  return formatBody([...labels, ...(sources.length > 5 ? ['…'] : [])].join(', '), 'text');
}
