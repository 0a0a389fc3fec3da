/** How an answer is rendered. */
export type ResponseFormat = 'json' | 'text' | 'html';

const json = /^(application|text)\/(x-)?json/i;

/** True for the Content-Types the peer reads as JSON. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && json.test(contentType.trim());
}

/**
 * Which form a client gets. JSON when Accept begins with it, or when Accept is absent or exactly any type and the request
 * was JSON; HTML when Accept (or, absent, the request's Content-Type) names text/html or any text; else plain text.
 */
export function selectResponseFormat(accept: string | undefined, contentType: string | undefined): ResponseFormat {
  const accepted = accept?.trim() ?? '';
  const acceptsAny = accepted === '' || accepted === '*/*';
  if (json.test(accepted) || (acceptsAny && isJsonType(contentType))) return 'json';
  return /text\/(html|\*)/i.test(accepted === '' ? (contentType ?? '') : accepted) ? 'html' : 'text';
}

/** Severity of a detail line, as the peer's `X-Apprise-Log-Level` names them. */
export type DetailLevel = 'INFO' | 'WARNING' | 'ERROR';
/** One line of what happened: level, local time, sentence. */
export type DetailLine = readonly [level: DetailLevel, time: string, text: string];

const ranks: Readonly<Record<string, number>> = {
  TRACE: 0,
  DEBUG: 1,
  INFO: 2,
  WARNING: 3,
  ERROR: 4,
  CRITICAL: 5,
};

/** Lines of at least the level a client asked for; an unknown level means INFO. */
export function filterDetails(lines: readonly DetailLine[], level: string | undefined): readonly DetailLine[] {
  const minimumRank = ranks[level?.trim().toUpperCase() ?? ''] ?? 2;
  return lines.filter(([each]) => (ranks[each] ?? 2) >= minimumRank);
}

/** `2026-11-21 02:08:22,163`, local time, as the peer writes it. */
export function detailTime(ms: number): string {
  const date = new Date(ms);
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${padTwo(date.getMonth() + 1)}-${padTwo(date.getDate())}`;
  const time = `${padTwo(date.getHours())}:${padTwo(date.getMinutes())}:${padTwo(date.getSeconds())}`;
  return `${day} ${time},${String(date.getMilliseconds()).padStart(3, '0')}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The lines as the peer's plain text log. */
export function detailsAsText(lines: readonly DetailLine[]): string {
  return lines.map(([level, time, text]) => `${time} [${level}] apprise: ${text.replace(/[\r\n]+/g, ' ')}\n`).join('');
}

/** The lines as the peer's HTML list. */
export function detailsAsHtml(lines: readonly DetailLine[]): string {
  const items = lines.map(
    ([level, time, text]) =>
      `<li class="log_${level}"><div class="log_time">${time}</div><div class="log_level">${level}</div><div class="log_msg">${escapeHtml(text)}</div></li>`,
  );
  return `<ul class="logs">${items.join('')}\n</ul>`;
}
