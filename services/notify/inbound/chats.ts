import type { NoticeType } from '../../contracts/notify/notice.ts';
import { joined, linesOf, linkLine, type Program, type Reading } from './reading.ts';

const colours: Readonly<Record<string, NoticeType>> = { danger: 'failure', warning: 'warning', good: 'success' };

/** What is written for Slack's and Mattermost's incoming webhooks: text, attachments with colours. */
export const slack: Program = {
  name: 'Slack',
  claims: (payload) =>
    payload.list('attachments').some((each) => ['text', 'fallback', 'title', 'fields'].some((name) => each.has(name))),
  read(payload) {
    const parts = payload.list('attachments');
    const [first] = parts;
    const lines = parts.flatMap((each): Reading['lines'] => [
      ...linesOf(joined('\n', each.lines('pretext'), each.lines('text') || each.lines('fallback'))),
      ...each.list('fields').map((field) => [`${field.text('title')}: ${field.text('value')}`]),
      ...linkLine('More', each.link('title_link')),
    ]);
    const type = parts.map((each) => colours[each.text('color').toLowerCase()]).find((colour) => colour !== undefined);
    return {
      title: first?.text('title') ?? '',
      lines: [...linesOf(payload.lines('text')), ...lines],
      type: type ?? 'info',
      link: first?.link('title_link'),
    };
  },
};

/** What is written for Discord's webhooks: content, embeds. */
export const discord: Program = {
  name: 'Discord',
  claims: (payload) =>
    payload.list('embeds').some((each) => ['title', 'description', 'fields'].some((name) => each.has(name))),
  read(payload) {
    const parts = payload.list('embeds');
    const [first] = parts;
    const lines = parts.flatMap((each, at): Reading['lines'] => [
      ...(at === 0 ? [] : linesOf(each.lines('title'))),
      ...linesOf(each.lines('description')),
      ...each.list('fields').map((field) => [`${field.text('name')}: ${field.text('value')}`]),
    ]);
    const all = [...linesOf(payload.lines('content')), ...lines];
    const title = first?.text('title') ?? '';
    return { title, lines: all.length === 0 ? [[title]] : all, type: 'info', link: first?.link('url') };
  },
};
