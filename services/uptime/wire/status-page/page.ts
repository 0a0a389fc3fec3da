import * as m from '#messages/uptime-texts';
import type { Maintenance } from '../../../contracts/uptime/maintenance.ts';
import { pageStatusTitles, type PageStatus } from '../../../contracts/uptime/page-status.ts';
import type { PublicNote } from '../../../contracts/uptime/status-pages.ts';
import { escapeHtml } from '../../../kit/escape-html.ts';
import { renderRichHtml, toCode } from '../../../kit/rich-html.ts';
import type { StoredPage } from '../../store/status-pages.ts';
import type { DailyHistory } from '../daily-status.ts';
import type { Heartbeats, PublicPage } from '../public-page.ts';
import { buildAccentStyle } from './accent-style.ts';
import { renderDocument } from './document.ts';
import { markdown } from './markdown.ts';
import { renderRow } from './monitor-row.ts';
import { renderMaintenance, renderNotes, renderOutages, renderPastNotes } from './notes.ts';
import { favicon, renderStatusIcon } from './status-icon.ts';
import { statusScript } from './status-script.ts';
import { customStyle } from './style-sheet.ts';
import { formatTimestamp, renderTime } from './timestamps.ts';

export interface StatusPageView {
  readonly page: StoredPage;
  readonly publicPage: PublicPage;
  readonly beats: Heartbeats;
  /** Resolved notes, newest first. */
  readonly pastNotes: readonly PublicNote[];
  /** Daily uptime by the ID of the monitor. */
  readonly histories: ReadonlyMap<number, DailyHistory>;
  /** Active and upcoming maintenance windows. */
  readonly windows: readonly Maintenance[];
  readonly status: PageStatus;
  readonly now: number;
  readonly follow: FollowOptions | undefined;
}

/** Ways in which visitors can follow a page. */
export interface FollowOptions {
  readonly mail: boolean;
  readonly topic: string | null;
  readonly link: string | undefined;
}

/** Returns the interval of automatic updates in seconds, or 0 without them. */
function getRefreshSeconds(autoRefreshInterval: number): number {
  return autoRefreshInterval > 0 ? Math.max(30, autoRefreshInterval) : 0;
}

/** Renders the status of the whole page, or the reason why a page without monitors has none. */
function renderStatusLine(status: PageStatus, hasMonitors: boolean): string {
  if (!hasMonitors)
    return `<section class="empty"><p>${escapeHtml(m.noMonitors())}</p><p class="soft">${escapeHtml(m.noMonitorsNote())}</p></section>`;
  return `<p class="all ${status}" role="status">${renderStatusIcon(status)}<span>${escapeHtml(pageStatusTitles[status]())}</span></p>`;
}

/** Renders a status page. */
export function renderStatusPage(view: StatusPageView): string {
  const { page, publicPage, beats, histories, windows, status, now } = view;
  const { logo, accentColor } = page.config;
  const { title, description, footerText, theme, customCSS, autoRefreshInterval, slug } = publicPage.config;
  const refreshSeconds = getRefreshSeconds(autoRefreshInterval);
  const script = `<script>${statusScript}</script>`;
  const head =
    `<meta name="description" content="${escapeHtml(description ?? '')}"><meta ` +
    `property="og:title" content="${escapeHtml(title)}"><meta property="og:description" content="` +
    `${escapeHtml(description ?? '')}"><meta property="og:type" content="website"><link rel="icon" ` +
    `href="${favicon(status)}"><link rel="manifest" href="/api/status-page/${slug}/manifest.json">` +
    `<link rel="alternate" type="application/rss+xml" href="/status/${slug}/rss">`;
  const notes = renderNotes(publicPage.incidents);
  const groups = publicPage.publicGroupList
    .map(
      (group) =>
        `<section><h2>${escapeHtml(group.name)}</h2><ul>` +
        `${group.monitorList.map((monitor) => renderRow(monitor, { beats, histories, onlyLast: publicPage.config.showOnlyLastHeartbeat })).join('')}` +
        '</ul></section>',
    )
    .join('');
  const hasMonitors = publicPage.publicGroupList.some(({ monitorList }) => monitorList.length > 0);
  const statusLine = renderStatusLine(status, hasMonitors);
  const maintenances = windows.map(renderMaintenance).join('');
  const sections = `${maintenances}${notes}${groups}${renderOutages(publicPage)}${renderPastNotes(view.pastNotes, slug)}${renderFollowSection(slug, view.follow)}`;
  const updated = `<p class="soft">${renderTime(m.updatedAt(), formatTimestamp(now))} · <a href="/status/${slug}/rss">RSS</a></p>`;
  const logoImage = logo === null ? '' : `<img class="logo" src="${escapeHtml(logo)}" alt="">`;
  const accent = accentColor === null ? '' : buildAccentStyle(accentColor);
  const body = `<main><header>${logoImage}<h1>${escapeHtml(title)}</h1>${description === null ? '' : markdown(description)}</header>
${statusLine}${sections}
<footer>${footerText === null ? '' : markdown(footerText)}${updated}</footer></main>`;
  return renderDocument(title, head, `${accent}${customStyle(customCSS)}`, `${body}${script}`, {
    theme,
    refreshSeconds,
  });
}

function renderFollowSection(slug: string, follow: FollowOptions | undefined): string {
  if (follow === undefined) return '';
  const { mail, topic, link } = follow;
  const renderTopic = (name: string): string =>
    link === undefined ? toCode(name) : `<a href="${escapeHtml(link)}" rel="noreferrer">${toCode(name)}</a>`;
  const push = topic === null ? '' : `<p>${renderRichHtml(m.pushTopic({ topic }), { name: renderTopic })}</p>`;
  const form = mail
    ? `<form method="post" action="/status/${slug}/subscribe"><label for="email">${escapeHtml(m.mailAddress())}</label>` +
      '<span class="ask"><input id="email" name="email" type="email" required maxlength="320" ' +
      `autocomplete="email"><button>${escapeHtml(m.subscribe())}</button></span></form>`
    : '';
  return `<section><h2>${escapeHtml(m.subscribeTitle())}</h2>${form}${push}</section>`;
}

/** Renders the result of an action, or the form that confirms it. */
export function renderAnswer(options: {
  readonly title: string;
  readonly message: string;
  readonly back: string;
  readonly action?: string;
  readonly button?: string;
}): string {
  const { title, message, back, action, button } = options;
  const form =
    action === undefined
      ? ''
      : `<form method="post" action="${escapeHtml(action)}"><button>${escapeHtml(button ?? '')}</button></form>`;
  const body =
    `<main><h1>${escapeHtml(title)}</h1><section><p>${escapeHtml(message)}</p>${form}</section><p><a ` +
    `href="${escapeHtml(back)}">${escapeHtml(m.backToPage())}</a></p></main>`;
  return renderDocument(title, '<meta name="robots" content="noindex">', '', body);
}
