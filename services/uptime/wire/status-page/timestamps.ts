import { getLocale, remember } from '../../../../messages/language.ts';
import type { RichMessage } from '../../../../messages/runtime.ts';
import { escapeHtml } from '../../../kit/escape-html.ts';
import { renderRichHtml } from '../../../kit/rich-html.ts';

const timestampOptions: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
};

/** Returns the format of times in the language of the visitor. */
function getTimestampFormat(): Intl.DateTimeFormat {
  const locale = getLocale();
  return remember('status-page-time', [locale], () => new Intl.DateTimeFormat(locale, timestampOptions));
}

/**
 * Formats a time in the zone of this computer, which is included because visitors may be in another one. The script of
 * the page replaces it with the time of the visitor.
 */
export function formatTimestamp(timestamp: number): string {
  return Number.isNaN(timestamp)
    ? ''
    : `<time datetime="${new Date(timestamp).toISOString()}">${escapeHtml(getTimestampFormat().format(timestamp))}</time>`;
}

/** Renders a message with a time, which is HTML. */
export function renderTime(message: RichMessage, time: string): string {
  return renderRichHtml(message, { time: () => time });
}

/** Formats a time of Uptime Kuma: `2026-11-25 22:47:11` in UTC. */
export function formatKumaTimestamp(text: string): string {
  return formatTimestamp(Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`));
}
