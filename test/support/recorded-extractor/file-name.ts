import { ExtractorError } from './download.ts';

/**
 * Fills the fields of a file name template: `%(title)s`, `%(title).180B` (at most so many bytes) and `%(number)03d`.
 * @throws ExtractorError for a format or field that the tests with recorded answers do not use
 */
export function fillFileName(template: string, fields: object): string {
  const values = new Map(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return template.replaceAll(/%\(([^)]*)\)([^A-Za-z]*[A-Za-z])/g, (whole, name: string, format: string) => {
    const value = values.get(name);
    const maxBytes = /^\.(\d+)B$/.exec(format)?.[1];
    const digits = /^0(\d+)d$/.exec(format)?.[1];
    if (value === undefined || (format !== 's' && maxBytes === undefined && digits === undefined))
      throw new ExtractorError(`The recorded extractor does not fill ${whole}`);
    const text = digits === undefined ? value : value.padStart(Number(digits), '0');
    const shortened = maxBytes === undefined ? text : Buffer.from(text).subarray(0, Number(maxBytes)).toString();
    return sanitize(shortened);
  });
}

/** Replaces characters as yt-dlp does in names. */
function sanitize(text: string): string {
  return text.replaceAll('/', '⧸').replaceAll('"', '＂').replaceAll('?', '？').replaceAll(':', '：');
}
