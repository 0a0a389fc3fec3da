import * as m from '#messages/notify-inbound';
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

/** Maximum length of one text in characters. */
const maxTextLength = 20_000;

/** Fields next to a text that only Slack's format has. */
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
/** Fields next to a content that only Discord's format has. */
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
/** Fields of Homeport's own format. */
const ownFields = ['message', 'title', 'tag', 'tags', 'urls'];

function isWrittenFor(names: readonly string[], payload: Payload): boolean {
  return names.some((name) => payload.has(name)) && !ownFields.some((name) => payload.has(name));
}

/** Prefixes the first line with a name. */
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
    ...buildLinkLine(m.more(), each.link('title_link')),
  ];
}

/** Adapter for Slack's and Mattermost's incoming webhooks: text, blocks, attachments with colors. */
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
    // With blocks, the text is only their fallback.
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

/** Returns true for a line that only repeats the title. */
function isHeading([first, ...others]: Lines[number], title: string): boolean {
  const headingText = typeof first === 'object' && 'strong' in first ? first.strong : undefined;
  return others.length === 0 && headingText !== undefined && toSlackTitle(headingText) === title;
}

/** Adapter for Discord's webhooks: content and embeds. */
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

/** Parses a text that contains the markup of a chat. Returns undefined for other text, which is used unchanged. */
export function parseMarkedText(name: string, text: string): Lines | undefined {
  if (name === 'text' && /<(?:https?:\/\/[^<>|\n]+\|[^<>\n]*|!(?:here|channel|everyone)[^<>\n]*)>/.test(text))
    return parseSlackText(text.slice(0, maxTextLength));
  const isDiscord = name === 'content' && /\*\*\S|\]\(https?:\/\/|<(?:t:\d|[@#]&?!?\d|a?:\w+:\d)/.test(text);
  return isDiscord ? parseDiscordText(text.slice(0, maxTextLength)) : undefined;
}
