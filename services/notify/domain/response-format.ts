import { escapeMarkup } from '../../kit/escape-html.ts';

/** Format of a response. */
export type ResponseFormat = 'json' | 'text' | 'html';

const json = /^(application|text)\/(x-)?json/i;

/** Returns true for the Content-Types that Apprise API parses as JSON. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && json.test(contentType.trim());
}

/**
 * Returns the response format of a client. JSON if Accept begins with it, or if Accept is missing or any type and the
 * request was JSON; HTML if Accept (or, if missing, the request's Content-Type) contains `text/html` or any text type;
 * otherwise plain text.
 */
export function selectResponseFormat(accept: string | undefined, contentType: string | undefined): ResponseFormat {
  const accepted = accept?.trim() ?? '';
  const acceptsAny = accepted === '' || accepted === '*/*';
  if (json.test(accepted) || (acceptsAny && isJsonType(contentType))) return 'json';
  return /text\/(html|\*)/i.test(accepted === '' ? (contentType ?? '') : accepted) ? 'html' : 'text';
}

/** Severity of a detail line, as in Apprise API's `X-Apprise-Log-Level`. */
export type DetailLevel = 'INFO' | 'WARNING' | 'ERROR';
/** Log line: level, local time, sentence. */
export type DetailLine = readonly [level: DetailLevel, time: string, text: string];

const ranks: Readonly<Record<string, number>> = {
  TRACE: 0,
  DEBUG: 1,
  INFO: 2,
  WARNING: 3,
  ERROR: 4,
  CRITICAL: 5,
};

/** Returns the lines of at least the requested level; an unknown level means INFO. */
export function filterDetails(lines: readonly DetailLine[], level: string | undefined): readonly DetailLine[] {
  const minimumRank = ranks[level?.trim().toUpperCase() ?? ''] ?? 2;
  return lines.filter(([each]) => (ranks[each] ?? 2) >= minimumRank);
}

/** Formats a local time as Apprise API does: `2026-11-21 02:08:22,163`. */
export function detailTime(ms: number): string {
  const date = new Date(ms);
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${padTwo(date.getMonth() + 1)}-${padTwo(date.getDate())}`;
  const time = `${padTwo(date.getHours())}:${padTwo(date.getMinutes())}:${padTwo(date.getSeconds())}`;
  return `${day} ${time},${String(date.getMilliseconds()).padStart(3, '0')}`;
}

function escapeHtml(text: string): string {
  return escapeMarkup(text).replaceAll('"', '&quot;');
}

/** Formats the lines as the plain text log of Apprise API. */
export function detailsAsText(lines: readonly DetailLine[]): string {
  return lines.map(([level, time, text]) => `${time} [${level}] apprise: ${text.replace(/[\r\n]+/g, ' ')}\n`).join('');
}

/** Formats the lines as the HTML list of Apprise API. */
export function detailsAsHtml(lines: readonly DetailLine[]): string {
  const items = lines.map(
    ([level, time, text]) =>
      `<li class="log_${level}"><div class="log_time">${time}</div><div class="log_level">${level}</div><div ` +
      `class="log_msg">${escapeHtml(text)}</div></li>`,
  );
  return `<ul class="logs">${items.join('')}\n</ul>`;
}
