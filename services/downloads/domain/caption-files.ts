/**
 * Returns the language of a subtitle file next to a finished file (`Talk.mp4`, `Talk.en.srt` -> `en`); undefined for
 * any other file.
 */
export function findCaptionLanguage(filename: string, subtitleFile: string): string | undefined {
  const stem = filename.replace(/\.[^.]*$/, '');
  if (!subtitleFile.startsWith(`${stem}.`)) return undefined;
  return /^([A-Za-z0-9][A-Za-z0-9-]{0,34})\.(?:srt|vtt)$/.exec(subtitleFile.slice(stem.length + 1))?.[1];
}
