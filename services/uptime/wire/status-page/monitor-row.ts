import * as m from '#messages/uptime-texts';
import { defineNumberFormat } from '../../../../messages/format.ts';
import { getLocale, remember } from '../../../../messages/language.ts';
import { visitorStatusLabels } from '../../../contracts/uptime/page-status.ts';
import { escapeHtml } from '../../../kit/escape-html.ts';
import { visibleDays, type DailyHistory, type DailyStatus } from '../daily-status.ts';
import type { Heartbeats, PublicPage } from '../public-page.ts';

const formatPercentage = defineNumberFormat({ maximumFractionDigits: 2 });

const getDayFormat = (): Intl.DateTimeFormat => {
  const locale = getLocale();
  const build = () => new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return remember('status-page-day', [locale], build);
};

type VisibleMonitor = PublicPage['publicGroupList'][number]['monitorList'][number];

interface RowOptions {
  readonly beats: Heartbeats;
  readonly histories: ReadonlyMap<number, DailyHistory>;
  /** Shows the current status only. */
  readonly onlyLast: boolean;
}

/** Renders a monitor with its status, its uptime and one bar per day. */
export function renderRow(monitor: VisibleMonitor, { beats, histories, onlyLast }: RowOptions): string {
  const { heartbeatList, uptimeList } = beats;
  const id = String(monitor.id);
  const list = heartbeatList[id] ?? [];
  const last = list.at(-1);
  const uptime = uptimeList[`${id}_24`];
  const percent = uptime === undefined || last === undefined ? '' : m.uptimeInDay({ percent: formatShare(uptime) });
  const statusLabel = last === undefined ? m.notChecked() : visitorStatusLabels[last.status]();
  const history = onlyLast ? undefined : histories.get(monitor.id);
  const url =
    'url' in monitor && typeof monitor.url === 'string' && /^https?:/.test(monitor.url) ? monitor.url : undefined;
  const name = escapeHtml(monitor.name);
  const days = 'certExpiryDaysRemaining' in monitor ? monitor.certExpiryDaysRemaining : '';
  const facts = [
    escapeHtml(percent),
    history === undefined || history.uptime === null
      ? ''
      : escapeHtml(m.uptimeInDays({ percent: formatShare(history.uptime), days: visibleDays })),
    typeof days === 'number' ? formatCertificateDays(days) : '',
  ];
  return (
    '<li><span class="name">' +
    `${url === undefined ? name : `<a href="${escapeHtml(url)}" rel="noreferrer">${name}</a>`}</span>` +
    `<span class="word w${String(last?.status ?? 2)}">${escapeHtml(statusLabel)}</span><span class="soft">` +
    `${facts.filter((fact) => fact !== '').join(' · ')}</span>${history === undefined ? '' : renderDays(history)}</li>`
  );
}

/** Minimum red share of a day with failed checks, so that it is visible. */
const minRedShare = 0.25;

/** Renders one bar per day. The row has the uptime as text. */
function renderDays({ days }: DailyHistory): string {
  const bars = days.map((day) => `<i ${renderDayAttributes(day)}></i>`).join('');
  const ends =
    `<span class="ends" aria-hidden="true"><span>${escapeHtml(m.daysAgo({ count: visibleDays }))}</span>` +
    `<span>${escapeHtml(m.today())}</span></span>`;
  return `<span class="bars" aria-hidden="true">${bars}</span>${ends}`;
}

function renderDayAttributes({ start, uptime }: DailyStatus): string {
  const day = getDayFormat().format(start);
  if (uptime === null) return `title="${escapeHtml(day)}"`;
  if (uptime === 'maintenance') return `class="s3" title="${escapeHtml(day)}"`;
  const title = escapeHtml(m.dayUptime({ day, percent: formatShare(uptime) }));
  if (uptime === 1) return `class="s1" title="${title}"`;
  if (uptime === 0) return `class="s0" title="${title}"`;
  const red = Math.round(100 * Math.max(minRedShare, 1 - uptime));
  return `class="mixed" style="--red:${String(red)}%" title="${title}"`;
}

/** Formats a share as a percentage. Rounds down, so that only 1 becomes 100. */
function formatShare(share: number): string {
  return formatPercentage(Math.floor(share * 10_000) / 100);
}

function formatCertificateDays(days: number): string {
  return escapeHtml(days <= 0 ? m.certificateHasExpired() : m.certificateDaysLeft({ count: days }));
}
