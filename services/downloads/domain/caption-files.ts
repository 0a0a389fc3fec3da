import type { Cue } from '../../contracts/downloads.ts';

const mostCues = 20_000;
const times = /^(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s+-->\s+(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})/;

/** The cues of a subtitle file in SRT or WebVTT; what is neither of them has none. */
export function cuesOf(text: string): readonly Cue[] {
  const cues: Cue[] = [];
  for (const block of text.replaceAll(/\r\n?/g, '\n').split(/\n{2,}/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => times.test(line));
    const found = times.exec(lines[at] ?? '');
    if (found === null) continue;
    const [from, to] = [seconds(found.slice(1, 5)), seconds(found.slice(5, 9))];
    const said = lines.slice(at + 1).join('\n').trim(); // prettier-ignore
    if (to > from && said !== '') cues.push({ from, to, text: said });
    if (cues.length >= mostCues) break;
  }
  return cues;
}

function seconds([hours = '0', minutes = '0', whole = '0', rest = '0']: readonly (string | undefined)[]): number {
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(whole) + Number(rest.padEnd(3, '0')) / 1000;
}

/**
 * The language of a subtitle file that stands beside a finished file (`Talk.mp4`, `Talk.en.srt` -> `en`); undefined for
 * any other file.
 */
export function captionLanguage(filename: string, beside: string): string | undefined {
  const stem = filename.replace(/\.[^.]*$/, '');
  if (!beside.startsWith(`${stem}.`)) return undefined;
  return /^([A-Za-z0-9][A-Za-z0-9-]{0,34})\.(?:srt|vtt)$/.exec(beside.slice(stem.length + 1))?.[1];
}
