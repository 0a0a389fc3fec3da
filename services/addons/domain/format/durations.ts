const minuteMs = 60_000;

/** Converts a duration to milliseconds. Numbers below 1,000 are minutes, as in metadata; streams use milliseconds. */
export function toMilliseconds(duration: number): number {
  if (duration < 0) return 0;
  return duration < 1000 ? duration * minuteMs : duration;
}

/** Formats a duration such as `1h:52m:3s`, `45m:10s` or `45m`. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const remainingSeconds = seconds % 60;
  if (hours > 0) return `${String(hours)}h:${String(minutes)}m:${String(remainingSeconds)}s`;
  return remainingSeconds > 0 ? `${String(minutes)}m:${String(remainingSeconds)}s` : `${String(minutes)}m`;
}

interface Token {
  readonly text: string;
  readonly isZero: boolean;
}

/**
 * Replaces the `%` tokens of a pattern. A group in `[…]` is omitted when all of its tokens are zero. `%%`, `%[` and
 * `%]` escape the characters, and unknown tokens are unchanged.
 */
function fillPattern(pattern: string, tokenFor: (name: string) => Token | undefined): string {
  const groups: { text: string; hasToken: boolean; isZero: boolean }[] = [{ text: '', hasToken: false, isZero: true }];
  const close = (): void => {
    const group = groups.pop();
    const outer = groups.at(-1);
    if (group === undefined || outer === undefined || (group.hasToken && group.isZero)) return;
    outer.text += group.text;
    outer.hasToken ||= group.hasToken;
    outer.isZero &&= group.isZero;
  };
  for (const [part] of pattern.matchAll(/%-?[\s\S]?|[\s\S]/g)) {
    const group = groups.at(-1);
    if (group === undefined) break;
    const token = part.startsWith('%') ? tokenFor(part.slice(1)) : undefined;
    if (token !== undefined) {
      group.text += token.text;
      group.hasToken = true;
      group.isZero &&= token.isZero;
    } else if (/^%[%[\]]$/.test(part)) group.text += part.slice(1);
    else if (part === '[') groups.push({ text: '', hasToken: false, isZero: true });
    else if (part === ']' && groups.length > 1) close();
    else group.text += part;
  }
  while (groups.length > 1) close();
  return groups[0]?.text ?? '';
}

/**
 * Formats a duration. `%H`, `%M` and `%S` have two digits, `%-H` and so on are not padded. The largest unit of the
 * pattern is unlimited.
 */
export function formatDurationPattern(ms: number, pattern: string): string {
  const has = (unit: string): boolean => new RegExp(`%-?${unit}`).test(pattern);
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const units: Readonly<Record<string, number>> = {
    H: Math.floor(seconds / 3600),
    M: has('H') ? minutes % 60 : minutes,
    S: has('H') || has('M') ? seconds % 60 : seconds,
  };
  return fillPattern(pattern, (name) => {
    const unit = units[name.replace('-', '')];
    if (unit === undefined) return undefined;
    return { text: name.startsWith('-') ? String(unit) : String(unit).padStart(2, '0'), isZero: unit === 0 };
  });
}

/** Formats a date such as `2023-07-04` by `%Y %y %m %-m %d %-d %o %B %b %A %a`. Other texts are unchanged. */
export function formatDatePattern(value: string, pattern: string): string {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})/.exec(value.trim());
  if (match === null) return value;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return value;
  const name = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' }).format(date);
  const timeMatch = /^\d{4}-\d{1,2}-\d{1,2}T(\d\d):(\d\d):(\d\d)/.exec(value.trim());
  const tokens: Readonly<Record<string, string>> = {
    Y: String(year),
    y: String(year % 100).padStart(2, '0'),
    m: String(month).padStart(2, '0'),
    '-m': String(month),
    d: String(day).padStart(2, '0'),
    '-d': String(day),
    o: `${String(day)}${ordinalSuffix(day)}`,
    B: name({ month: 'long' }),
    b: name({ month: 'short' }),
    A: name({ weekday: 'long' }),
    a: name({ weekday: 'short' }),
    H: timeMatch?.[1] ?? '00',
    M: timeMatch?.[2] ?? '00',
    S: timeMatch?.[3] ?? '00',
  };
  return fillPattern(pattern, (token) => {
    const text = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
    return text === undefined ? undefined : { text, isZero: false };
  });
}

function ordinalSuffix(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}
