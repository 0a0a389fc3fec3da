import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { linesOfBlocks } from './blocks.ts';
import { linesOfDiscord, linesOfSlack, titleOfDiscord, titleOfSlack } from './chat-markup.ts';
import type { Part } from './payload.ts';
import { linkLine, type Program, type Reading } from './adapter.ts';

type Lines = Reading['lines'];

const colours: Readonly<Record<string, NotificationType>> = { danger: 'failure', warning: 'warning', good: 'success' };

/** Characters of one text. */
const longest = 20_000;

/** What stands beside a text for Slack and for nobody else. */
const ofSlack = ['channel', 'username', 'icon_emoji', 'icon_url', 'link_names', 'mrkdwn', 'thread_ts', 'unfurl_links'];
/** The same beside a content for Discord. */
const ofDiscord = ['username', 'avatar_url', 'tts', 'allowed_mentions', 'thread_name', 'flags', 'components', 'poll'];
/** Whoever says these writes for us. */
const ours = ['message', 'title', 'tag', 'tags', 'urls'];

function isFor(names: readonly string[], payload: Part): boolean {
  return names.some((name) => payload.has(name)) && !ours.some((name) => payload.has(name));
}

/** A name in front of the first line of its value. */
function named(name: string, [first, ...others]: Lines): Lines {
  return [[`${name}: `, ...(first ?? [])], ...others];
}

function linesOfAttachment(each: Part): Lines {
  const text = [...linesOfSlack(each.whole('text').slice(0, longest)), ...linesOfBlocks(each.list('blocks'))];
  return [
    ...linesOfSlack(each.lines('pretext')),
    ...(text.length > 0 ? text : linesOfSlack(each.lines('fallback'))),
    ...each
      .list('fields')
      .flatMap((field) => named(titleOfSlack(field.text('title')), linesOfSlack(field.lines('value')))),
    ...linkLine('More', each.link('title_link')),
  ];
}

/** What is written for Slack's and Mattermost's incoming webhooks: text, blocks, attachments with colours. */
export const slack: Program = {
  name: 'Slack',
  claims: (payload) =>
    payload
      .list('attachments')
      .some((each) => ['text', 'fallback', 'title', 'fields', 'blocks'].some((name) => each.has(name))) ||
    payload.list('blocks').some((each) => each.has('type')) ||
    (payload.lines('text') !== '' && isFor(ofSlack, payload)),
  read(payload) {
    const parts = payload.list('attachments');
    const [first] = parts;
    const blocks = linesOfBlocks(payload.list('blocks'));
    const [heading] = payload.list('blocks').filter((each) => each.text('type') === 'header');
    // Where there are blocks the text is what is shown in their place.
    const text = blocks.length > 0 ? blocks : linesOfSlack(payload.whole('text').slice(0, longest));
    const type = parts
      .map((each) => findOwn(colours, each.text('color').toLowerCase()))
      .find((colour) => colour !== undefined);
    const title = titleOfSlack(first?.text('title') ?? '') || titleOfSlack(heading?.text('text.text') ?? '');
    const lines = [...text, ...parts.flatMap(linesOfAttachment)];
    return {
      title,
      lines: lines.filter((line, at) => !(at === 0 && isHeading(line, title))),
      type: type ?? 'info',
      link: first?.link('title_link'),
    };
  },
};

/** The title says it already. */
function isHeading([first, ...others]: Lines[number], title: string): boolean {
  const words = typeof first === 'object' && 'strong' in first ? first.strong : undefined;
  return others.length === 0 && words !== undefined && titleOfSlack(words) === title;
}

/** What is written for Discord's webhooks: content, embeds. */
export const discord: Program = {
  name: 'Discord',
  claims: (payload) =>
    payload.list('embeds').some((each) => ['title', 'description', 'fields'].some((name) => each.has(name))) ||
    (payload.lines('content') !== '' && isFor(ofDiscord, payload)),
  read(payload) {
    const parts = payload.list('embeds');
    const [first] = parts;
    const lines = parts.flatMap((each, at): Lines => [
      ...(at === 0 ? [] : linesOfDiscord(each.lines('title'))),
      ...linesOfDiscord(each.lines('description')),
      ...each
        .list('fields')
        .flatMap((field) => named(titleOfDiscord(field.text('name')), linesOfDiscord(field.lines('value')))),
    ]);
    const all = [...linesOfDiscord(payload.lines('content')), ...lines];
    const title = titleOfDiscord(first?.text('title') ?? '');
    return { title, lines: all.length === 0 ? [[title]] : all, type: 'info', link: first?.link('url') };
  },
};

/** The lines of a text in which a chat's marks stand out; undefined for any other, which is taken as it came. */
export function linesOfMarked(name: string, text: string): Lines | undefined {
  if (name === 'text' && /<(?:https?:\/\/[^<>|\n]+\|[^<>\n]*|!(?:here|channel|everyone)[^<>\n]*)>/.test(text))
    return linesOfSlack(text.slice(0, longest));
  const isDiscord = name === 'content' && /\*\*\S|\]\(https?:\/\/|<(?:t:\d|[@#]&?!?\d|a?:\w+:\d)/.test(text);
  return isDiscord ? linesOfDiscord(text.slice(0, longest)) : undefined;
}
