import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { parseBlocks } from './blocks.ts';
import { parseDiscordText, parseSlackText, toDiscordTitle, toSlackTitle } from './chat-markup.ts';
import type { Payload } from './payload.ts';
import { buildLinkLine, type InboundAdapter, type InboundNotification } from './adapter.ts';

type Lines = InboundNotification['lines'];

const typesByColor: Readonly<Record<string, NotificationType>> = {
  danger: 'failure',
  warning: 'warning',
  good: 'success',
};

/** Characters of one text. */
const maxTextLength = 20_000;

/** What stands beside a text for Slack and for nobody else. */
const slackFields = [
  'channel',
  'username',
  'icon_emoji',
  'icon_url',
  'link_names',
  'mrkdwn',
  'thread_ts',
  'unfurl_links',
];
/** The same beside a content for Discord. */
const discordFields = [
  'username',
  'avatar_url',
  'tts',
  'allowed_mentions',
  'thread_name',
  'flags',
  'components',
  'poll',
];
/** Whoever says these writes for us. */
const ownFields = ['message', 'title', 'tag', 'tags', 'urls'];

function isWrittenFor(names: readonly string[], payload: Payload): boolean {
  return names.some((name) => payload.has(name)) && !ownFields.some((name) => payload.has(name));
}

/** A name in front of the first line of its value. */
function prefixName(name: string, [first, ...others]: Lines): Lines {
  return [[`${name}: `, ...(first ?? [])], ...others];
}

function parseAttachment(each: Payload): Lines {
  const text = [...parseSlackText(each.fullText('text').slice(0, maxTextLength)), ...parseBlocks(each.list('blocks'))];
  return [
    ...parseSlackText(each.lines('pretext')),
    ...(text.length > 0 ? text : parseSlackText(each.lines('fallback'))),
    ...each
      .list('fields')
      .flatMap((field) => prefixName(toSlackTitle(field.text('title')), parseSlackText(field.lines('value')))),
    ...buildLinkLine('More', each.link('title_link')),
  ];
}

/** What is written for Slack's and Mattermost's incoming webhooks: text, blocks, attachments with colours. */
export const slack: InboundAdapter = {
  name: 'Slack',
  matches: (payload) =>
    payload
      .list('attachments')
      .some((each) => ['text', 'fallback', 'title', 'fields', 'blocks'].some((name) => each.has(name))) ||
    payload.list('blocks').some((each) => each.has('type')) ||
    (payload.lines('text') !== '' && isWrittenFor(slackFields, payload)),
  parse(payload) {
    const parts = payload.list('attachments');
    const [first] = parts;
    const blocks = parseBlocks(payload.list('blocks'));
    const [heading] = payload.list('blocks').filter((each) => each.text('type') === 'header');
    // Where there are blocks the text is what is shown in their place.
    const text = blocks.length > 0 ? blocks : parseSlackText(payload.fullText('text').slice(0, maxTextLength));
    const type = parts
      .map((each) => findOwn(typesByColor, each.text('color').toLowerCase()))
      .find((colour) => colour !== undefined);
    const title = toSlackTitle(first?.text('title') ?? '') || toSlackTitle(heading?.text('text.text') ?? '');
    const lines = [...text, ...parts.flatMap(parseAttachment)];
    return {
      title,
      lines: lines.filter((line, index) => !(index === 0 && isHeading(line, title))),
      type: type ?? 'info',
      link: first?.link('title_link'),
    };
  },
};

/** The title says it already. */
function isHeading([first, ...others]: Lines[number], title: string): boolean {
  const headingText = typeof first === 'object' && 'strong' in first ? first.strong : undefined;
  return others.length === 0 && headingText !== undefined && toSlackTitle(headingText) === title;
}

/** What is written for Discord's webhooks: content, embeds. */
export const discord: InboundAdapter = {
  name: 'Discord',
  matches: (payload) =>
    payload.list('embeds').some((each) => ['title', 'description', 'fields'].some((name) => each.has(name))) ||
    (payload.lines('content') !== '' && isWrittenFor(discordFields, payload)),
  parse(payload) {
    const parts = payload.list('embeds');
    const [first] = parts;
    const lines = parts.flatMap((each, index): Lines => [
      ...(index === 0 ? [] : parseDiscordText(each.lines('title'))),
      ...parseDiscordText(each.lines('description')),
      ...each
        .list('fields')
        .flatMap((field) => prefixName(toDiscordTitle(field.text('name')), parseDiscordText(field.lines('value')))),
    ]);
    const all = [...parseDiscordText(payload.lines('content')), ...lines];
    const title = toDiscordTitle(first?.text('title') ?? '');
    return { title, lines: all.length === 0 ? [[title]] : all, type: 'info', link: first?.link('url') };
  },
};

/** The lines of a text in which a chat's marks stand out; undefined for any other, which is taken as it came. */
export function parseMarkedText(name: string, text: string): Lines | undefined {
  if (name === 'text' && /<(?:https?:\/\/[^<>|\n]+\|[^<>\n]*|!(?:here|channel|everyone)[^<>\n]*)>/.test(text))
    return parseSlackText(text.slice(0, maxTextLength));
  const isDiscord = name === 'content' && /\*\*\S|\]\(https?:\/\/|<(?:t:\d|[@#]&?!?\d|a?:\w+:\d)/.test(text);
  return isDiscord ? parseDiscordText(text.slice(0, maxTextLength)) : undefined;
}
