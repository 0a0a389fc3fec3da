import { replaceShortCodes } from '../domain/emoji.ts';
import type { TextPart } from './adapter.ts';

/** Markup of a chat. */
interface Markup {
  /** Pattern of all marks within a line, with named groups. */
  readonly pattern: RegExp;
  /** Parses the text between angle brackets. Returns undefined if it is not markup. */
  readonly parseAngle: (inside: string) => TextPart | undefined;
  /** Converts text outside of marks. */
  readonly toText: (text: string) => string;
  /** Converts text in code. */
  readonly toLiteral: (text: string) => string;
  /** Prefix of a formatted line. */
  readonly linePrefix: RegExp;
  /** Language in the first line of a code block. */
  readonly codeLanguage: RegExp;
}

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
const addressPattern = /^https?:\/\/[^\s<>"]+$/i;

function decodeEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => entities[entity] ?? entity);
}

function buildLink(link: string, label = link): TextPart {
  return { label: label.trim() === '' ? link : label, link, inText: true };
}

/** Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). */
const slack: Markup = {
  pattern: new RegExp(
    [
      '`(?<code>[^`\\n]+)`',
      String.raw`<(?<angle>[^<>\n]+)>`,
      String.raw`(?<![\p{L}\p{N}*])\*(?=\S)(?<strong>[^*\n]+?)(?<=\S)\*(?![\p{L}\p{N}*])`,
      String.raw`(?<![\p{L}\p{N}_])_(?=\S)(?<under>[^_\n]+?)(?<=\S)_(?![\p{L}\p{N}_])`,
      String.raw`(?<![\p{L}\p{N}~])~(?=\S)(?<strike>[^~\n]+?)(?<=\S)~(?![\p{L}\p{N}~])`,
    ].join('|'),
    'gu',
  ),
  parseAngle(inside) {
    const bar = inside.indexOf('|');
    const target = decodeEntities(bar === -1 ? inside : inside.slice(0, bar));
    const label = bar === -1 ? '' : decodeEntities(inside.slice(bar + 1)).trim();
    if (addressPattern.test(target)) return buildLink(target, label);
    if (/^(?:mailto|tel):/i.test(target)) return label === '' ? target.replace(/^[a-z]+:/i, '') : label;
    const [, sign = '', name = ''] = /^([@#!])(.+)$/.exec(target) ?? [];
    if (sign === '') return undefined;
    // A date contains its fallback text.
    if (name.startsWith('date^')) return label;
    const displayName = label === '' ? name.replace(/^subteam\^/, '') : label.replace(/^[@#]/, '');
    return `${sign === '#' ? '#' : '@'}${displayName}`;
  },
  toText: (text) =>
    decodeEntities(text).replace(/(?<![\p{L}\p{N}:]):[a-z0-9_+-]{1,60}:(?![\p{L}\p{N}])/giu, replaceShortCodes),
  toLiteral: decodeEntities,
  linePrefix: /^(?!)/,
  codeLanguage: /^(?!)/,
};

/** Discord's Markdown (https://docs.discord.com/developers/reference#message-formatting), which Mattermost shares. */
const discord: Markup = {
  pattern: new RegExp(
    [
      '\\\\(?<escaped>[!-/:-@[-`{-~])',
      '(?<ticks>`{1,2})(?<code>[^`\\n]+)\\k<ticks>',
      String.raw`\[(?<label>[^[\]\n]+)\]\(<?(?<link>https?:\/\/(?:[^\s<>()]|\([^\s<>()]*\))+)>?(?:[ \t]+"[^"\n]*")?\)`,
      String.raw`<(?<angle>[^<>\n]+)>`,
      String.raw`\*\*(?=\S)(?<strong>[^\n]{1,2000}?)(?<=\S)\*\*(?!\*)`,
      String.raw`__(?=\S)(?<under>[^\n]{1,2000}?)(?<=\S)__(?!_)`,
      String.raw`~~(?=\S)(?<strike>[^\n]{1,2000}?)(?<=\S)~~`,
      String.raw`\|\|(?=\S)(?<spoiler>[^\n]{1,2000}?)(?<=\S)\|\|`,
      String.raw`\*(?=[^\s*])(?<italic>[^*\n]+?)(?<=\S)\*(?!\*)`,
      String.raw`(?<![\p{L}\p{N}_])_(?=[^\s_])(?<slanted>[^_\n]+?)(?<=\S)_(?![\p{L}\p{N}_])`,
    ].join('|'),
    'gu',
  ),
  parseAngle(inside) {
    if (addressPattern.test(inside)) return buildLink(inside);
    const [, seconds] = /^t:(-?\d{1,11})(?::[tTdDfFR])?$/.exec(inside) ?? [];
    if (seconds !== undefined)
      return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const [, emoji] = /^a?(:\w+:)\d+$/.exec(inside) ?? [];
    if (emoji !== undefined) return emoji;
    const [, sign = '', id = ''] = /^(@[!&]?|#|\/)([^:]+)(?::\d+)?$/.exec(inside) ?? [];
    return sign === '' ? undefined : `${sign.charAt(0)}${id}`;
  },
  toText: (text) => text,
  toLiteral: (text) => text,
  linePrefix: /^(?:#{1,3}|-#)[ \t]+/,
  codeLanguage: /^[\w+.#-]{0,20}\n/,
};

/** Maximum depth of nested marks. */
const maxDepth = 5;

function parseLine(text: string, marks: Markup, depth = 0): readonly TextPart[] {
  if (depth > maxDepth) return [marks.toText(text)];
  const pieces: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(marks.pattern)) {
    const { escaped, code, label, link, angle, strong, ...others } = match.groups ?? {};
    pieces.push(marks.toText(text.slice(end, match.index)));
    end = match.index + match[0].length;
    if (escaped !== undefined) pieces.push(escaped);
    else if (code !== undefined) pieces.push(marks.toLiteral(code));
    else if (label !== undefined && link !== undefined)
      pieces.push(buildLink(link, toPlainText(parseLine(label, marks, depth + 1))));
    else if (angle !== undefined) pieces.push(marks.parseAngle(angle) ?? match[0]);
    else if (strong !== undefined) pieces.push(...makeStrong(parseLine(strong, marks, depth + 1)));
    else {
      const { under, strike, spoiler, italic, slanted } = others;
      const inside = under ?? strike ?? spoiler ?? italic ?? slanted ?? '';
      pieces.push(...parseLine(inside, marks, depth + 1));
    }
  }
  pieces.push(marks.toText(text.slice(end)));
  return pieces;
}

/** Makes text strong; a link remains a link. */
function makeStrong(pieces: readonly TextPart[]): readonly TextPart[] {
  return pieces.map((piece) => (typeof piece === 'string' && piece !== '' ? { strong: piece } : piece));
}

function toPlainText(pieces: readonly TextPart[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : 'strong' in piece ? piece.strong : piece.label))
    .join('');
}

function parseLines(text: string, marks: Markup): readonly (readonly TextPart[])[] {
  if (text.trim() === '') return [];
  const lines: (readonly TextPart[])[] = [];
  const blocks = text.replace(/\r\n?/g, '\n').split('```');
  for (const [index, part] of blocks.entries()) {
    const isCode = index % 2 === 1 && index < blocks.length - 1;
    const content = isCode
      ? marks.toLiteral(part.replace(marks.codeLanguage, ''))
      : index === 0
        ? part
        : part.replace(/^\n/, '');
    if (content.trim() === '') continue;
    for (const line of content.replace(/\n$/, '').split('\n')) {
      lines.push(isCode ? [line] : parseLine(line.replace(marks.linePrefix, ''), marks));
    }
  }
  return lines;
}

/** Returns the markup of a text. Mattermost and others accept Slack's payloads with Markdown in them. */
function detectMarkup(text: string): Markup {
  return /\*\*\S|\]\(https?:/.test(text) && !/<https?:[^<>\n]+\|/.test(text) ? discord : slack;
}

/** Parses text in Slack's markup to lines. */
export function parseSlackText(text: string): readonly (readonly TextPart[])[] {
  return parseLines(text, detectMarkup(text));
}

/** Parses text in Discord's markup to lines. */
export function parseDiscordText(text: string): readonly (readonly TextPart[])[] {
  return parseLines(text, discord);
}

/** Removes Slack's markup from a title. */
export function toSlackTitle(text: string): string {
  return toPlainText(parseLine(text, detectMarkup(text)));
}

/** Removes Discord's markup from a title. */
export function toDiscordTitle(text: string): string {
  return toPlainText(parseLine(text, discord));
}
