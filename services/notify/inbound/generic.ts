import { parseNotificationType } from '../domain/notification-type.ts';
import { parseTagField } from '../domain/tags.ts';
import { parseMarkedText } from './chats.ts';
import type { Payload } from './payload.ts';
import type { InboundAdapter, InboundNotification } from './adapter.ts';

const bodyNames = ['message', 'text', 'content', 'msg', 'description'] as const;
const titleNames = ['title', 'subject', 'summary', 'name'] as const;
const typeNames = ['type', 'level', 'severity', 'status', 'state'] as const;

function findName(payload: Payload, names: readonly string[]): string | undefined {
  return names.find((name) => payload.lines(name) !== '');
}

/** Returns the type of a payload; ntfy's priority 5 is a failure, 4 a warning. */
function parseType(payload: Payload): InboundNotification['type'] {
  const typeTexts = typeNames.map((name) => payload.text(name)).filter((word) => word !== '');
  const type = typeTexts.map(parseNotificationType).find((each) => each !== undefined);
  if (type !== undefined) return type;
  const priority = payload.number('priority');
  if (!payload.has('topic') || priority === undefined) return 'info';
  return priority >= 5 ? 'failure' : priority === 4 ? 'warning' : 'info';
}

/**
 * Adapter for any payload with a text under a common name: Home Assistant's `notify.rest`, Shoutrrr's generic service
 * (Beszel, Watchtower), ntfy's JSON, scripts.
 */
export const generic: InboundAdapter = {
  name: 'notify',
  matches: (payload) => findName(payload, bodyNames) !== undefined,
  parse(payload) {
    const body = findName(payload, bodyNames);
    if (body === undefined) return undefined;
    const title = findName(
      payload,
      titleNames.filter((name) => name !== body),
    );
    // Home Assistant sends targets in `target`, which is only used if it is a tag. The tags of ntfy are emojis.
    const target: unknown = payload.value('target');
    const text = payload.fullText(body);
    const lines = parseMarkedText(body, text);
    const tagValue: unknown = payload.value('tag') ?? (payload.has('topic') ? undefined : payload.value('tags'));
    return {
      title: title === undefined ? '' : payload.text(title),
      lines: lines ?? [],
      ...(lines === undefined ? { body: text } : {}),
      type: parseType(payload),
      link: payload.link('url') ?? payload.link('link') ?? payload.link('click'),
      tag: tagValue ?? (parseTagField(target).kind === 'expression' ? target : undefined),
    };
  },
};
