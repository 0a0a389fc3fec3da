import type { Cue } from './cue.ts';

const framesPerSecond = 30;
const columns = 32;

/** Address codes of rows 12 to 15 (lowest last) of channel 1, white, from the first column. */
const rows = ['1350', '1370', '1450', '1470'] as const;
/** Control codes: load a caption off screen, erase it, show it, clear the screen. */
const control = { load: '1420', erase: '142e', show: '142f', clear: '142c' } as const;

/** Characters whose code differs from ASCII in the basic set of CEA-608. */
const specialCodes: Readonly<Record<string, number>> = {
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
/** ASCII characters with another meaning in CEA-608. */
const unsupportedAscii = new Set(['*', '\\', '^', '_', '`', '{', '|', '}', '~']);

/**
 * Writes Scenarist closed captions: pop-on captions of CEA-608 as hexadecimal words with odd parity, at 30 frames per
 * second. A caption has at most four rows of 32 characters; unsupported characters lose their accents or become a
 * question mark.
 */
export function toScc(cues: readonly Cue[]): string {
  const lines = cues.flatMap((cue, index) => {
    const line = `${formatTimecode(cue.from)}\t${toParityWords(buildCaptionCodes(cue.lines)).join(' ')}`;
    // The next caption replaces this one.
    const following = cues[index + 1];
    return following !== undefined && following.from <= cue.to
      ? [line]
      : [line, `${formatTimecode(cue.to)}\t${toParityWords([control.clear, control.clear]).join(' ')}`];
  });
  return `Scenarist_SCC V1.0\n\n${lines.map((line) => `${line}\n\n`).join('')}`;
}

/** Returns the codes of a caption. Each is sent twice, since a receiver may miss one. */
function buildCaptionCodes(lines: readonly string[]): readonly string[] {
  const wrapped = lines.flatMap(wrapLine).slice(0, rows.length);
  const addresses = rows.slice(rows.length - wrapped.length);
  const text = wrapped.flatMap((line, index) => {
    const address = addresses[index] ?? rows[rows.length - 1];
    return [address ?? '', address ?? '', ...toCodePairs(line)];
  });
  return [control.erase, control.erase, control.load, control.load, ...text, control.show, control.show];
}

function wrapLine(line: string): readonly string[] {
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

function toCodePairs(line: string): readonly string[] {
  const codes = [...line].flatMap((character) => [...toCodes(character)]);
  const padded = codes.length % 2 === 0 ? codes : [...codes, 0];
  return Array.from({ length: padded.length / 2 }, (_, index) =>
    [padded[index * 2] ?? 0, padded[index * 2 + 1] ?? 0].map((code) => code.toString(16).padStart(2, '0')).join(''),
  );
}

function toCodes(character: string): readonly number[] {
  const specialCode = specialCodes[character];
  if (specialCode !== undefined) return [specialCode];
  const ascii = character === '…' ? '...' : character.normalize('NFD').replaceAll(/\p{M}/gu, '');
  return [...ascii].map((each) => {
    const code = each.codePointAt(0) ?? 0;
    return code >= 0x20 && code < 0x7f && !unsupportedAscii.has(each) ? code : 0x3f;
  });
}

function toParityWords(codes: readonly string[]): readonly string[] {
  return codes.map((code) => addParity(code.slice(0, 2)) + addParity(code.slice(2)));
}

/** Sets the eighth bit so that the number of ones is odd. */
function addParity(hex: string): string {
  const value = Number.parseInt(hex, 16);
  const ones = value.toString(2).replaceAll('0', '').length;
  return (ones % 2 === 1 ? value : value | 0x80).toString(16).padStart(2, '0');
}

function formatTimecode(ms: number): string {
  const frames = Math.floor((ms * framesPerSecond) / 1000);
  const seconds = Math.floor(frames / framesPerSecond);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60, frames % framesPerSecond];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
