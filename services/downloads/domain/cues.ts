import { decodeHTMLStrict } from 'entities';
import type { Cue } from './cue.ts';
import { toScc } from './scc.ts';

const timingPattern = /^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s+-->\s+((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})/;

/** Reads WebVTT (W3C) or SubRip. Styles, notes, positions and markup in the text are ignored. */
export function readCues(text: string): readonly Cue[] {
  const cues: Cue[] = [];
  for (const block of text
    .replace(/^\ufeff/, '')
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n{2,}/)) {
    const lines = block.split('\n');
    const index = lines.findIndex((line) => timingPattern.test(line));
    const [, from, to] = timingPattern.exec(lines[index] ?? '') ?? [];
    if (from === undefined || to === undefined) continue;
    const texts = lines
      .slice(index + 1)
      .map(stripMarkup)
      .filter((line) => line !== '');
    const cue = { from: parseTime(from), to: parseTime(to), lines: texts };
    if (texts.length > 0 && cue.to > cue.from) cues.push(cue);
  }
  return cues;
}

/** Removes markup, and decodes character references as the WebVTT specification requires. */
function stripMarkup(line: string): string {
  const withoutTags = line.replaceAll(/<[^>]*>/g, '').replaceAll(/\{\\[^}]*\}/g, '');
  return decodeHTMLStrict(withoutTags)
    .replaceAll(/[\u200e\u200f]/g, '')
    .replaceAll('\u00a0', ' ')
    .trim();
}

function parseTime(text: string): number {
  const parts = text.replace(',', '.').split(':').map(Number);
  return Math.round(parts.reduce((sum, part) => sum * 60 + part, 0) * 1000);
}

/** Writes captions in a format; undefined for unsupported formats. */
export function writeCues(cues: readonly Cue[], format: string, language: string): string | undefined {
  switch (format) {
    case 'txt':
      return toText(cues);
    case 'srt':
      return cues.map((cue, index) => `${index + 1}\n${formatTimed(cue, ',')}`).join('\n');
    case 'vtt':
      return `WEBVTT\n\n${cues.map((cue) => formatTimed(cue, '.').replaceAll('&', '&amp;').replaceAll('<', '&lt;')).join('\n')}`;
    case 'sbv':
      return cues
        .map(({ from, to, lines }) => `${formatSbvTime(from)},${formatSbvTime(to)}\n${lines.join('\n')}\n`)
        .join('\n');
    case 'ttml':
    case 'dfxp':
      return toTtml(cues, language);
    case 'scc':
      return toScc(cues);
    default:
      return undefined;
  }
}

function formatTimed({ from, to, lines }: Cue, separator: ',' | '.'): string {
  const time = (ms: number): string => formatLongTime(ms).replace('.', separator);
  return `${time(from)} --> ${time(to)}\n${lines.join('\n')}\n`;
}

/** Returns the text, one line per caption line. Scrolling captions repeat their lines; each is written once. */
function toText(cues: readonly Cue[]): string {
  const textLines: string[] = [];
  let previous: readonly string[] = [];
  for (const { lines } of cues) {
    textLines.push(...lines.filter((line) => !previous.includes(line)));
    previous = lines;
  }
  return `${textLines.join('\n')}\n`;
}

/** Formats a time as `0:00:01.500` for YouTube's SubViewer format. */
function formatSbvTime(ms: number): string {
  const { hours, minutes, seconds, rest } = splitTime(ms);
  return `${hours}:${padTwo(minutes)}:${padTwo(seconds)}.${String(rest).padStart(3, '0')}`;
}

/** Writes Timed Text Markup Language 1.0 (W3C), formerly DFXP. */
function toTtml(cues: readonly Cue[], language: string): string {
  const escape = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const paragraphs = cues.map(
    ({ from, to, lines }) =>
      `      <p begin="${formatLongTime(from)}" end="${formatLongTime(to)}">${lines.map(escape).join('<br/>')}</p>\n`,
  );
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="${escape(language)}">\n` +
    `  <body>\n    <div>\n${paragraphs.join('')}    </div>\n  </body>\n</tt>\n`
  );
}

/** Formats a time as `00:00:01.500`. */
function formatLongTime(ms: number): string {
  const { hours, minutes, seconds, rest } = splitTime(ms);
  return `${padTwo(hours)}:${padTwo(minutes)}:${padTwo(seconds)}.${String(rest).padStart(3, '0')}`;
}

function splitTime(ms: number): { hours: number; minutes: number; seconds: number; rest: number } {
  const totalSeconds = Math.floor(ms / 1000);
  return {
    hours: Math.floor(totalSeconds / 3600),
    minutes: Math.floor(totalSeconds / 60) % 60,
    seconds: totalSeconds % 60,
    rest: Math.round(ms) % 1000,
  };
}

function padTwo(number: number): string {
  return String(number).padStart(2, '0');
}
