import { parseNoticeType } from '../domain/notification-type.ts';
import { parseTagField } from '../domain/tags.ts';
import { linesOfMarked } from './chats.ts';
import type { Part } from './payload.ts';
import type { Program, Reading } from './adapter.ts';

const bodies = ['message', 'text', 'content', 'msg', 'description'] as const;
const titles = ['title', 'subject', 'summary', 'name'] as const;
const loudness = ['type', 'level', 'severity', 'status', 'state'] as const;

function firstOf(payload: Part, names: readonly string[]): string | undefined {
  return names.find((name) => payload.lines(name) !== '');
}

/** ntfy's priorities by number: 5 and 4 are loud. */
function typeOf(payload: Part): Reading['type'] {
  const words = loudness.map((name) => payload.text(name)).filter((word) => word !== '');
  const type = words.map(parseNoticeType).find((each) => each !== undefined);
  if (type !== undefined) return type;
  const priority = payload.number('priority');
  if (!payload.has('topic') || priority === undefined) return 'info';
  return priority >= 5 ? 'failure' : priority === 4 ? 'warning' : 'info';
}

/**
 * Anything with a text under one of the usual names: Home Assistant's `notify.rest`, Shoutrrr's generic service
 * (Beszel, Watchtower), ntfy's JSON, one's own scripts.
 */
export const generic: Program = {
  name: 'notify',
  claims: (payload) => firstOf(payload, bodies) !== undefined,
  read(payload) {
    const body = firstOf(payload, bodies);
    if (body === undefined) return undefined;
    const title = firstOf(
      payload,
      titles.filter((name) => name !== body),
    );
    // Home Assistant sends its targets; one that is no tag is something else's. The tags of ntfy are pictures.
    const target: unknown = payload.value('target');
    const text = payload.whole(body);
    const lines = linesOfMarked(body, text);
    const asked: unknown = payload.value('tag') ?? (payload.has('topic') ? undefined : payload.value('tags'));
    return {
      title: title === undefined ? '' : payload.text(title),
      lines: lines ?? [],
      ...(lines === undefined ? { body: text } : {}),
      type: typeOf(payload),
      link: payload.link('url') ?? payload.link('link') ?? payload.link('click'),
      tag: asked ?? (parseTagField(target).kind === 'expression' ? target : undefined),
    };
  },
};
