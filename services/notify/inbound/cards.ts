import * as m from '#messages/notify-inbound';
import { findOwn } from '../../contracts/find-own.ts';
import { htmlToText } from '../../kit/plain-text.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { buildLinkLine, toLines, type InboundAdapter, type InboundNotification } from './adapter.ts';
import { readPayload, type Payload } from './payload.ts';

type Lines = InboundNotification['lines'];

/** Maximum depth of containers in a card. */
const maxDepth = 6;
const adaptiveCard = 'application/vnd.microsoft.card.adaptive';

function toFacts(facts: readonly Payload[], name: string): Lines {
  return facts.map((fact) => [`${fact.text(name)}: ${fact.text('value')}`]);
}

/** Returns the type for a theme color: red, green and yellow have their usual meanings. */
function toColorType(color: string): NotificationType {
  const [, red = '', green = '', blue = ''] = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color) ?? [];
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => Number.parseInt(part || '0', 16));
  if (r > 120 && g > 90 && b < Math.min(r, g) / 2) return 'warning';
  if (r > 120 && r > 1.8 * Math.max(g, b)) return 'failure';
  return g > 100 && g > 1.4 * Math.max(r, b) ? 'success' : 'info';
}

function parseMessageCard(card: Payload): InboundNotification {
  const sections = card
    .list('sections')
    .flatMap((section): Lines => [
      ...['title', 'activityTitle', 'activitySubtitle', 'activityText', 'text'].flatMap((name) =>
        toLines(section.lines(name)),
      ),
      ...toFacts(section.list('facts'), 'name'),
    ]);
  const [action] = [
    ...card.list('potentialAction'),
    ...card.list('sections').flatMap((each) => each.list('potentialAction')),
  ];
  return {
    title: card.text('title') || card.text('summary'),
    lines: [...toLines(card.lines('text')), ...sections],
    type: toColorType(card.text('themeColor')),
    link: action?.list('targets')[0]?.link('uri') ?? action?.link('target'),
  };
}

const typesByStyle: Readonly<Record<string, NotificationType>> = {
  attention: 'failure',
  warning: 'warning',
  good: 'success',
};

interface CardContent {
  readonly lines: Lines;
  readonly styles: readonly string[];
  readonly links: readonly string[];
}

function readElements(elements: readonly Payload[], depth = 0): CardContent {
  if (depth > maxDepth) return { lines: [], styles: [], links: [] };
  const contents = elements.map((element): CardContent => {
    const children = ['items', 'columns', 'body', 'actions'].flatMap((name) => element.list(name));
    const inner = readElements(children, depth + 1);
    const inlines = element.list('inlines').map((inline) => inline.fullText('text').slice(0, 4000));
    const link = element.text('type') === 'Action.OpenUrl' ? element.link('url') : undefined;
    return {
      lines: [
        ...toLines(element.text('type') === 'TextBlock' ? element.lines('text') : inlines.join('')),
        ...toFacts(element.list('facts'), 'title'),
        ...inner.lines,
      ],
      styles: [element.text('color'), element.text('style'), ...inner.styles],
      links: [...(link === undefined ? [] : [link]), ...inner.links],
    };
  });
  return {
    lines: contents.flatMap(({ lines }) => lines),
    styles: contents.flatMap(({ styles }) => styles),
    links: contents.flatMap(({ links }) => links),
  };
}

function parseAdaptiveCards(cards: readonly Payload[], payload: Payload): InboundNotification {
  const { lines, styles, links } = readElements(cards);
  const type = styles
    .map((style) => findOwn(typesByStyle, style.toLowerCase()))
    .find((styleType) => styleType !== undefined);
  const [first, ...rest] = lines;
  const heading = first?.map((part) => (typeof part === 'string' ? part : '')).join('') ?? '';
  const hasHeading = rest.length > 0 && heading.length <= 200;
  return {
    title: payload.text('summary') || (hasHeading ? heading : ''),
    lines: hasHeading && payload.text('summary') === '' ? rest : lines,
    type: type ?? 'info',
    link: links[0],
  };
}

function findAdaptiveCards(payload: Payload): readonly Payload[] {
  if (payload.text('type') === 'AdaptiveCard') return [payload];
  return payload
    .list('attachments')
    .filter((each) => each.text('contentType') === adaptiveCard)
    .map((each) => each.object('content'));
}

/** Cards for webhooks and workflows of Microsoft Teams: message cards and adaptive cards. */
export const teams: InboundAdapter = {
  name: 'Teams',
  matches: (payload) => payload.text('@type') === 'MessageCard' || findAdaptiveCards(payload).length > 0,
  parse(payload) {
    const cards = findAdaptiveCards(payload);
    return cards.length > 0 ? parseAdaptiveCards(cards, payload) : parseMessageCard(payload);
  },
};

function toWidgetLines(widget: Payload): Lines {
  const text = (path: string): string => htmlToText(widget.fullText(path).slice(0, 4000));
  const label = widget.text('decoratedText.topLabel') || widget.text('keyValue.topLabel');
  const value = text('decoratedText.text') || text('keyValue.content');
  return [
    ...toLines(text('textParagraph.text')),
    ...(value === '' ? [] : toLines(label === '' ? value : `${label}: ${value}`)),
    ...toLines(text('decoratedText.bottomLabel')),
    ...widget
      .list('buttonList.buttons')
      .flatMap((button) => buildLinkLine(button.text('text') || m.open(), button.link('onClick.openLink.url'))),
  ];
}

function findChatCards(payload: Payload): readonly Payload[] {
  return [...payload.list('cardsV2').map((each) => each.object('card')), ...payload.list('cards')];
}

/** Cards for webhooks of Google Chat. */
export const googleChat: InboundAdapter = {
  name: 'Google Chat',
  matches: (payload) => findChatCards(payload).some((card) => card.has('sections')),
  parse(payload) {
    const cards = findChatCards(payload);
    const lines = cards.flatMap((card): Lines => [
      ...toLines(card.lines('header.subtitle')),
      ...card
        .list('sections')
        .flatMap((section): Lines => [
          ...toLines(htmlToText(section.fullText('header').slice(0, 4000))),
          ...section.list('widgets').flatMap(toWidgetLines),
        ]),
    ]);
    return {
      title: cards[0]?.text('header.title') ?? '',
      lines: [...toLines(payload.lines('text')), ...lines],
      type: 'info',
    };
  },
};

/** Returns the texts of a rich text of Feishu and Lark, which has one version per language. */
function toPostLines(post: Payload): Lines {
  const content = post.value('content');
  if (!Array.isArray(content)) return [];
  return content.slice(0, 200).map((line: unknown) =>
    readPayload(line)
      .list('')
      .map((element) => element.fullText('text').slice(0, 4000)),
  );
}

/** Header colors of cards of Feishu. */
const colorsByTemplate: Readonly<Record<string, string>> = {
  red: 'ff0000',
  green: '00ff00',
  orange: 'ffa500',
  yellow: 'ffd700',
};

/** Messages for robots of DingTalk, WeCom, Feishu and Lark. */
export const workChat: InboundAdapter = {
  name: 'Work chat',
  title: m.workChat,
  matches: (payload) => {
    const kind = payload.text('msgtype') || payload.text('msg_type');
    const members = [kind, kind === 'interactive' ? 'card' : 'content'];
    return kind !== '' && members.some((member) => typeof payload.value(member) === 'object' && payload.has(member));
  },
  parse(payload) {
    const kind = payload.text('msgtype') || payload.text('msg_type');
    const body = payload.object(kind);
    const posts = payload.pairs('content.post').map(([language]) => payload.object(`content.post.${language}`));
    const card = payload.object('card');
    const title = [body.text('title'), posts[0]?.text('title') ?? '', card.text('header.title.content')].find(
      (text) => text !== '',
    );
    return {
      title: title ?? '',
      lines: [
        ...toLines(body.lines('content') || body.lines('text') || payload.lines('content.text')),
        ...body.list('articles').flatMap((article) => toLines(article.lines('title'))),
        ...posts.slice(0, 1).flatMap(toPostLines),
        ...card.list('elements').flatMap((each) => toLines(each.lines('text.content') || each.lines('content'))),
      ],
      type: toColorType(findOwn(colorsByTemplate, card.text('header.template')) ?? ''),
      link: body.link('messageUrl') ?? body.link('singleURL'),
    };
  },
};
