import type { Cue } from './cue.ts';

const framesASecond = 30;
const columns = 32;

/** Rows 12 to 15, the lowest last: their address codes of channel 1, white, from the first column. */
const rows = ['1350', '1370', '1450', '1470'] as const;
/** Begin a caption off screen, clear it, show it, clear the screen. */
const control = { load: '1420', erase: '142e', show: '142f', clear: '142c' } as const;

/** Characters whose code is not that of ASCII; CEA-608, the basic set. */
const special: Readonly<Record<string, number>> = {
  á: 0x2a,
  é: 0x5c,
  í: 0x5e,
  ó: 0x5f,
  ú: 0x60,
  ç: 0x7b,
  '÷': 0x7c,
  Ñ: 0x7d,
  ñ: 0x7e,
};
/** ASCII that is something else there. */
const missing = new Set(['*', '\\', '^', '_', '`', '{', '|', '}', '~']);

/**
 * Scenarist closed captions: pop-on captions of CEA-608 as words of hexadecimal with odd parity, at 30 frames a second.
 * Four rows of 32 characters are all there is; what its alphabet lacks loses its accents or becomes a question mark.
 */
export function toScc(cues: readonly Cue[]): string {
  const lines = cues.flatMap((cue, index) => {
    const shown = `${timecode(cue.from)}\t${words(captionCodes(cue.lines)).join(' ')}`;
    // The next caption takes the place of this one by itself.
    const following = cues[index + 1];
    return following !== undefined && following.from <= cue.to
      ? [shown]
      : [shown, `${timecode(cue.to)}\t${words([control.clear, control.clear]).join(' ')}`];
  });
  return `Scenarist_SCC V1.0\n\n${lines.map((line) => `${line}\n\n`).join('')}`;
}

/** Every code is sent twice, since a receiver may miss one. */
function captionCodes(lines: readonly string[]): readonly string[] {
  const wrapped = lines.flatMap(wrap).slice(0, rows.length);
  const addresses = rows.slice(rows.length - wrapped.length);
  const text = wrapped.flatMap((line, index) => {
    const address = addresses[index] ?? rows[rows.length - 1];
    return [address ?? '', address ?? '', ...pairs(line)];
  });
  return [control.erase, control.erase, control.load, control.load, ...text, control.show, control.show];
}

function wrap(line: string): readonly string[] {
  const wrapped: string[] = [];
  let current = '';
  for (const word of line.split(/\s+/)) {
    const next = current === '' ? word : `${current} ${word}`;
    if (next.length <= columns) current = next;
    else {
      if (current !== '') wrapped.push(current);
      current = word.slice(0, columns);
    }
  }
  return current === '' ? wrapped : [...wrapped, current];
}

function pairs(line: string): readonly string[] {
  const codes = [...line].flatMap((character) => [...codesOf(character)]);
  const padded = codes.length % 2 === 0 ? codes : [...codes, 0];
  return Array.from({ length: padded.length / 2 }, (_, index) =>
    [padded[index * 2] ?? 0, padded[index * 2 + 1] ?? 0].map((code) => code.toString(16).padStart(2, '0')).join(''),
  );
}

function codesOf(character: string): readonly number[] {
  const known = special[character];
  if (known !== undefined) return [known];
  const plain = character === '…' ? '...' : character.normalize('NFD').replaceAll(/\p{M}/gu, '');
  return [...plain].map((each) => {
    const code = each.codePointAt(0) ?? 0;
    return code >= 0x20 && code < 0x7f && !missing.has(each) ? code : 0x3f;
  });
}

function words(codes: readonly string[]): readonly string[] {
  return codes.map((code) => withParity(code.slice(0, 2)) + withParity(code.slice(2)));
}

/** The eighth bit makes the number of ones odd. */
function withParity(hex: string): string {
  const value = Number.parseInt(hex, 16);
  const ones = value.toString(2).replaceAll('0', '').length;
  return (ones % 2 === 1 ? value : value | 0x80).toString(16).padStart(2, '0');
}

function timecode(ms: number): string {
  const frames = Math.floor((ms * framesASecond) / 1000);
  const seconds = Math.floor(frames / framesASecond);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60, frames % framesASecond];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
