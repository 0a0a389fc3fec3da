/**
 * The language of a subtitle file that stands beside a finished file (`Talk.mp4`, `Talk.en.srt` -> `en`); undefined for
 * any other file.
 */
export function captionLanguage(filename: string, beside: string): string | undefined {
  const stem = filename.replace(/\.[^.]*$/, '');
  if (!beside.startsWith(`${stem}.`)) return undefined;
  return /^([A-Za-z0-9][A-Za-z0-9-]{0,34})\.(?:srt|vtt)$/.exec(beside.slice(stem.length + 1))?.[1];
}
