import type { Cue } from './cue.ts';
import { toScc } from './scc.ts';

const timing = /^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s+-->\s+((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})/;

/** Reads WebVTT (W3C) or SubRip; styles, notes, positions and marks inside of the text are left out. */
export function readCues(text: string): readonly Cue[] {
  const cues: Cue[] = [];
  for (const block of text
    .replace(/^\ufeff/, '')
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n{2,}/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => timing.test(line));
    const [, from, to] = timing.exec(lines[at] ?? '') ?? [];
    if (from === undefined || to === undefined) continue;
    const said = lines
      .slice(at + 1)
      .map(plainText)
      .filter((line) => line !== '');
    const cue = { from: milliseconds(from), to: milliseconds(to), lines: said };
    if (said.length > 0 && cue.to > cue.from) cues.push(cue);
  }
  return cues;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': ' ',
  '&lrm;': '',
  '&rlm;': '',
};

function plainText(line: string): string {
  const bare = line.replaceAll(/<[^>]*>/g, '').replaceAll(/\{\\[^}]*\}/g, '');
  return bare.replaceAll(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (entity) => entities[entity] ?? entity).trim();
}

function milliseconds(clock: string): number {
  const parts = clock.replace(',', '.').split(':').map(Number);
  return Math.round(parts.reduce((sum, part) => sum * 60 + part, 0) * 1000);
}

/** The captions in one of our formats; undefined for any other. */
export function writeCues(cues: readonly Cue[], format: string, language: string): string | undefined {
  switch (format) {
    case 'txt':
      return toText(cues);
    case 'srt':
      return cues.map((cue, index) => `${index + 1}\n${timed(cue, ',')}`).join('\n');
    case 'vtt':
      return `WEBVTT\n\n${cues.map((cue) => timed(cue, '.').replaceAll('&', '&amp;').replaceAll('<', '&lt;')).join('\n')}`;
    case 'sbv':
      return cues.map(({ from, to, lines }) => `${sbvTime(from)},${sbvTime(to)}\n${lines.join('\n')}\n`).join('\n');
    case 'ttml':
    case 'dfxp':
      return toTtml(cues, language);
    case 'scc':
      return toScc(cues);
    default:
      return undefined;
  }
}

function timed({ from, to, lines }: Cue, mark: ',' | '.'): string {
  const time = (ms: number): string => longTime(ms).replace('.', mark);
  return `${time(from)} --> ${time(to)}\n${lines.join('\n')}\n`;
}

/** What is said, a line each. Captions that roll upwards repeat their lines; here each is said once. */
function toText(cues: readonly Cue[]): string {
  const said: string[] = [];
  let before: readonly string[] = [];
  for (const { lines } of cues) {
    said.push(...lines.filter((line) => !before.includes(line)));
    before = lines;
  }
  return `${said.join('\n')}\n`;
}

/** `0:00:01.500`, as YouTube's SubViewer has it. */
function sbvTime(ms: number): string {
  const { hours, minutes, seconds, rest } = clockOf(ms);
  return `${hours}:${two(minutes)}:${two(seconds)}.${String(rest).padStart(3, '0')}`;
}

/** Timed Text Markup Language 1.0 (W3C), which was called DFXP. */
function toTtml(cues: readonly Cue[], language: string): string {
  const escape = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const paragraphs = cues.map(
    ({ from, to, lines }) =>
      `      <p begin="${longTime(from)}" end="${longTime(to)}">${lines.map(escape).join('<br/>')}</p>\n`,
  );
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="${escape(language)}">\n` +
    `  <body>\n    <div>\n${paragraphs.join('')}    </div>\n  </body>\n</tt>\n`
  );
}

/** `00:00:01.500` */
function longTime(ms: number): string {
  const { hours, minutes, seconds, rest } = clockOf(ms);
  return `${two(hours)}:${two(minutes)}:${two(seconds)}.${String(rest).padStart(3, '0')}`;
}

function clockOf(ms: number): { hours: number; minutes: number; seconds: number; rest: number } {
  const whole = Math.floor(ms / 1000);
  return {
    hours: Math.floor(whole / 3600),
    minutes: Math.floor(whole / 60) % 60,
    seconds: whole % 60,
    rest: Math.round(ms) % 1000,
  };
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
