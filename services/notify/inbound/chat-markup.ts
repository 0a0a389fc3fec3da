import { withPictures } from '../domain/emoji.ts';
import type { Piece } from './adapter.ts';

/** How one chat marks its texts. */
interface Marks {
  /** Every mark within a line of text, by the names of its groups. */
  readonly pattern: RegExp;
  /** What stands between angle brackets; undefined: it is no mark. */
  readonly angle: (inside: string) => Piece | undefined;
  /** A text without marks as people read it. */
  readonly words: (text: string) => string;
  /** The same of code. */
  readonly literal: (text: string) => string;
  /** What begins a line and says how it looks. */
  readonly line: RegExp;
  /** What the first line of a block of code may name: its language. */
  readonly language: RegExp;
}

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
const isAddress = /^https?:\/\/[^\s<>"]+$/i;

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => entities[entity] ?? entity);
}

function linkTo(link: string, words = link): Piece {
  return { words: words.trim() === '' ? link : words, link, inText: true };
}

/** Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). */
const slack: Marks = {
  pattern:
    /`(?<code>[^`\n]+)`|<(?<angle>[^<>\n]+)>|(?<![\p{L}\p{N}*])\*(?=\S)(?<strong>[^*\n]+?)(?<=\S)\*(?![\p{L}\p{N}*])|(?<![\p{L}\p{N}_])_(?=\S)(?<under>[^_\n]+?)(?<=\S)_(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}~])~(?=\S)(?<strike>[^~\n]+?)(?<=\S)~(?![\p{L}\p{N}~])/gu,
  angle(inside) {
    const bar = inside.indexOf('|');
    const target = decode(bar === -1 ? inside : inside.slice(0, bar));
    const said = bar === -1 ? '' : decode(inside.slice(bar + 1)).trim();
    if (isAddress.test(target)) return linkTo(target, said);
    if (/^(?:mailto|tel):/i.test(target)) return said === '' ? target.replace(/^[a-z]+:/i, '') : said;
    const [, sign = '', name = ''] = /^([@#!])(.+)$/.exec(target) ?? [];
    if (sign === '') return undefined;
    // A date says what to show where it cannot be shown.
    if (name.startsWith('date^')) return said;
    const shown = said === '' ? name.replace(/^subteam\^/, '') : said.replace(/^[@#]/, '');
    return `${sign === '#' ? '#' : '@'}${shown}`;
  },
  words: (text) => decode(text).replace(/(?<![\p{L}\p{N}:]):[a-z0-9_+-]{1,60}:(?![\p{L}\p{N}])/giu, withPictures),
  literal: decode,
  line: /^(?!)/,
  language: /^(?!)/,
};

/** Discord's Markdown (https://docs.discord.com/developers/reference#message-formatting), which is also that of Mattermost. */
const discord: Marks = {
  pattern:
    /\\(?<escaped>[!-/:-@[-`{-~])|(?<ticks>`{1,2})(?<code>[^`\n]+)\k<ticks>|\[(?<said>[^[\]\n]+)\]\(<?(?<link>https?:\/\/(?:[^\s<>()]|\([^\s<>()]*\))+)>?(?:[ \t]+"[^"\n]*")?\)|<(?<angle>[^<>\n]+)>|\*\*(?=\S)(?<strong>[^\n]{1,2000}?)(?<=\S)\*\*(?!\*)|__(?=\S)(?<under>[^\n]{1,2000}?)(?<=\S)__(?!_)|~~(?=\S)(?<strike>[^\n]{1,2000}?)(?<=\S)~~|\|\|(?=\S)(?<spoiler>[^\n]{1,2000}?)(?<=\S)\|\||\*(?=[^\s*])(?<italic>[^*\n]+?)(?<=\S)\*(?!\*)|(?<![\p{L}\p{N}_])_(?=[^\s_])(?<slanted>[^_\n]+?)(?<=\S)_(?![\p{L}\p{N}_])/gu,
  angle(inside) {
    if (isAddress.test(inside)) return linkTo(inside);
    const [, seconds] = /^t:(-?\d{1,11})(?::[tTdDfFR])?$/.exec(inside) ?? [];
    if (seconds !== undefined)
      return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const [, emoji] = /^a?(:\w+:)\d+$/.exec(inside) ?? [];
    if (emoji !== undefined) return emoji;
    const [, sign = '', id = ''] = /^(@[!&]?|#|\/)([^:]+)(?::\d+)?$/.exec(inside) ?? [];
    return sign === '' ? undefined : `${sign.charAt(0)}${id}`;
  },
  words: (text) => text,
  literal: (text) => text,
  line: /^(?:#{1,3}|-#)[ \t]+/,
  language: /^[\w+.#-]{0,20}\n/,
};

/** Marks within marks are read so deep. */
const deepest = 5;

function piecesOf(text: string, marks: Marks, depth = 0): readonly Piece[] {
  if (depth > deepest) return [marks.words(text)];
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(marks.pattern)) {
    const { escaped, code, said, link, angle, strong, ...others } = found.groups ?? {};
    pieces.push(marks.words(text.slice(end, found.index)));
    end = found.index + found[0].length;
    if (escaped !== undefined) pieces.push(escaped);
    else if (code !== undefined) pieces.push(marks.literal(code));
    else if (said !== undefined && link !== undefined)
      pieces.push(linkTo(link, plainOf(piecesOf(said, marks, depth + 1))));
    else if (angle !== undefined) pieces.push(marks.angle(angle) ?? found[0]);
    else if (strong !== undefined) pieces.push(...strengthen(piecesOf(strong, marks, depth + 1)));
    else {
      const { under, strike, spoiler, italic, slanted } = others;
      const inside = under ?? strike ?? spoiler ?? italic ?? slanted ?? '';
      pieces.push(...piecesOf(inside, marks, depth + 1));
    }
  }
  pieces.push(marks.words(text.slice(end)));
  return pieces;
}

/** What leads somewhere goes on doing so; it cannot be strong as well. */
function strengthen(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.map((piece) => (typeof piece === 'string' && piece !== '' ? { strong: piece } : piece));
}

function plainOf(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : 'strong' in piece ? piece.strong : piece.words))
    .join('');
}

function readLines(text: string, marks: Marks): readonly (readonly Piece[])[] {
  if (text.trim() === '') return [];
  const lines: (readonly Piece[])[] = [];
  const parts = text.replace(/\r\n?/g, '\n').split('```');
  for (const [at, part] of parts.entries()) {
    const isCode = at % 2 === 1 && at < parts.length - 1;
    const shown = isCode ? marks.literal(part.replace(marks.language, '')) : at === 0 ? part : part.replace(/^\n/, '');
    if (shown.trim() === '') continue;
    for (const line of shown.replace(/\n$/, '').split('\n')) {
      lines.push(isCode ? [line] : piecesOf(line.replace(marks.line, ''), marks));
    }
  }
  return lines;
}

/** Mattermost and others take Slack's payloads, and Markdown in them. */
function marksOf(text: string): Marks {
  return /\*\*\S|\]\(https?:/.test(text) && !/<https?:[^<>\n]+\|/.test(text) ? discord : slack;
}

/** The lines of a text as it is written for Slack, its marks read. */
export function linesOfSlack(text: string): readonly (readonly Piece[])[] {
  return readLines(text, marksOf(text));
}

/** The same of a text for Discord. */
export function linesOfDiscord(text: string): readonly (readonly Piece[])[] {
  return readLines(text, discord);
}

/** A heading for Slack, without marks. */
export function titleOfSlack(text: string): string {
  return plainOf(piecesOf(text, marksOf(text)));
}

/** The same of a heading for Discord. */
export function titleOfDiscord(text: string): string {
  return plainOf(piecesOf(text, discord));
}
