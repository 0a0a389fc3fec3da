const hourMs = 3_600_000;
const hoursByUnit: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168, y: 8760 };

/** Returns the text after one of the icons, up to the next icon or the end of the line. */
export function findTextAfter(text: string, icons: readonly string[]): string | undefined {
  for (const icon of icons) {
    const index = text.indexOf(icon);
    if (index === -1) continue;
    const rest = text.slice(index + icon.length).replace(/^\u{FE0F}?\s*/u, '');
    const value = /^[^\n\p{Emoji_Presentation}\u{2699}\u{2601}\u{26A1}|]{1,200}/u.exec(rest)?.[0].trim();
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** Returns the text after a label at the beginning of a line or between bars, such as `Source: 1337x`. */
export function findLabeledText(text: string, labels: readonly string[]): string | undefined {
  const match = new RegExp(`(?:^|[|•\\n])[^\\p{L}\\n]*(?:${labels.join('|')})\\s*:\\s*([^|\\n]{1,200})`, 'iu').exec(
    text,
  );
  return match?.[1]?.trim();
}

/** Reads the number of seeders. */
export function parseSeeders(text: string): number | undefined {
  const match = /(?:[👥👤🌱]\u{FE0F}?|\bseed(?:er)?s?\s*:)\s*(\d[\d,.]{0,9})(?![\d:])/iu.exec(text);
  return match === null ? undefined : Number(match[1]?.replaceAll(/[,.]/g, ''));
}

/** Reads the age of the release in hours. */
export function parseAge(text: string): number | undefined {
  const match = /(?:📅|📆|🕒|⏰|🗓|\bage\s*:)\u{FE0F}?\s*(\d{1,6})\s*(minutes?|mins?|months?|mo|[mhdwy])/iu.exec(text);
  if (match === null) return undefined;
  const [, number = '0', unit = ''] = match;
  const unitName = unit.toLowerCase();
  if (unitName.startsWith('mo')) return Number(number) * 24 * 30;
  if (unitName.startsWith('m')) return Number(number) / 60;
  return Number(number) * (hoursByUnit[unitName.slice(0, 1)] ?? 1);
}

const clockIcons = String.raw`[\u23F1\u23F2\u231A\u231B\u{1F550}-\u{1F567}]\u{FE0F}?`;
const durationPatterns: readonly RegExp[] = [
  new RegExp(
    [
      String.raw`(?<![\p{L}\d])(?<h>\d{1,2})\s?h(?:ours?|rs?)?[:\s]{0,2}(?<m>\d{1,2})\s?m(?:in(?:ute)?s?)?`,
      String.raw`(?:[:\s]{0,2}(?<s>\d{1,2})\s?s)?(?![\p{L}\d])`,
    ].join(''),
    'iu',
  ),
  /(?<![\p{L}\d])(?<m>\d{1,3})\s?m(?:in)?[:\s]{0,2}(?<s>\d{1,2})\s?s(?![\p{L}\d])/iu,
  new RegExp(
    String.raw`(?:${clockIcons}|\b(?:duration|runtime|length)\s*:)\s*(?<h>\d{1,2}):(?<m>\d\d):(?<s>\d\d)`,
    'iu',
  ),
  new RegExp(
    [
      String.raw`(?:${clockIcons}|\b(?:duration|runtime|length)\s*:)\s*`,
      String.raw`(?:(?<h>\d{1,2})\s?h(?:ours?|rs?)?|(?<m>\d{1,3})\s?m(?:in(?:ute)?s?)?)(?![\p{L}\d])`,
    ].join(''),
    'iu',
  ),
];

/** Reads the duration of the video in milliseconds; 0 when the text does not contain it. */
export function parseDuration(text: string): number {
  for (const pattern of durationPatterns) {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const { h = '0', m = '0', s = '0' } = groups;
    return Number(h) * hourMs + Number(m) * 60_000 + Number(s) * 1000;
  }
  return 0;
}
