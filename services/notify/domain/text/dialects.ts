import type { Dialect } from './dialect.ts';

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const;

/** CommonMark as Discord, Rocket.Chat, Matrix clients and most others parse it. */
export const markdown: Dialect = {
  encode: { '\\': '\\\\', '*': '\\*', _: '\\_', '`': '\\`', '~': '\\~', '[': '\\[', ']': '\\]', '<': '\\<' },
  encodeCode: {},
  bold: ['**', '**'],
  italic: ['_', '_'],
  strike: ['~~', '~~'],
  code: ['`', '`'],
  block: ['```\n', '\n```'],
  heading: (level) => [`${'#'.repeat(level)} `, ''],
  item: '- ',
  gap: 2,
  link: (url) => ['[', `](<${url}>)`],
};

/** Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). */
export const slack: Dialect = {
  encode: entities,
  encodeCode: entities,
  bold: ['*', '*'],
  italic: ['_', '_'],
  strike: ['~', '~'],
  code: ['`', '`'],
  block: ['```\n', '\n```'],
  heading: () => ['*', '*'],
  item: '- ',
  gap: 2,
  link: (url) => [`<${url.replaceAll('&', '&amp;')}|`, '>'],
};

/** Google Chat uses the same markup without entities. */
export const googleChat: Dialect = { ...slack, encode: {}, encodeCode: {} };

/** HTML subset of Telegram (https://core.telegram.org/bots/api#html-style); line breaks are kept. */
export const telegram: Dialect = {
  encode: entities,
  encodeCode: entities,
  bold: ['<b>', '</b>'],
  italic: ['<i>', '</i>'],
  strike: ['<s>', '</s>'],
  code: ['<code>', '</code>'],
  block: ['<pre>', '</pre>'],
  heading: () => ['<b>', '</b>'],
  item: '- ',
  gap: 1,
  link: (url) => [`<a href="${url.replaceAll('&', '&amp;')}">`, '</a>'],
};
