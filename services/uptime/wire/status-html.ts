import { Marked } from 'marked';
import type { Maintenance } from '../../contracts/uptime/maintenance.ts';
import { pageStatusTitles, visitorStatusLabels, type PageStatus } from '../../contracts/uptime/page-status.ts';
import type { Heartbeats, PublicPage } from './public-page.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { statusScript, statusScriptSource } from './status-script.ts';
import type { StoredPage } from '../store/status-pages.ts';

const timestampFormat = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** Formats a time in the zone of this computer, which is included because visitors may be in another one. */
function formatTimestamp(timestamp: number): string {
  return Number.isNaN(timestamp)
    ? ''
    : `<time datetime="${new Date(timestamp).toISOString()}">${escapeHtml(timestampFormat.format(timestamp))}</time>`;
}

/** Formats a time of Uptime Kuma: `2026-11-25 22:47:11` in UTC. */
function formatKumaTimestamp(text: string): string {
  return formatTimestamp(Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`));
}

/** Number of heartbeats that are shown per monitor. */
const visibleBars = 50;

export interface StatusPageView {
  readonly page: StoredPage;
  readonly publicPage: PublicPage;
  readonly beats: Heartbeats;
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

/** Returns the Content-Security-Policy of a page: no external resources; forms and the script only where needed. */
export function buildContentSecurityPolicy({ form, script }: { form: boolean; script: boolean }): string {
  return [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    ...(script ? [`script-src ${statusScriptSource}`, "connect-src 'self'"] : []),
    `form-action ${form ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** Returns the interval of automatic updates in seconds, or 0 without them. */
function getRefreshSeconds(autoRefreshInterval: number): number {
  return autoRefreshInterval > 0 ? Math.max(30, autoRefreshInterval) : 0;
}

/** Renders a status page; undefined renders the page for unknown addresses. */
export function renderStatusPage(view: StatusPageView | undefined): string {
  if (view === undefined)
    return renderDocument(
      'Status',
      '',
      '',
      '<main><header><h1>There is no status page here.</h1><p>It may be hidden now, or its address has ' +
        'changed. Ask who gave you this one.</p></header></main>',
    );
  const { publicPage, beats, windows, status, now } = view;
  const { title, description, footerText, theme, customCSS, autoRefreshInterval, slug } = publicPage.config;
  const refreshSeconds = getRefreshSeconds(autoRefreshInterval);
  // Browsers without scripts reload the page.
  const refresh =
    refreshSeconds === 0 ? '' : `<noscript><meta http-equiv="refresh" content="${String(refreshSeconds)}"></noscript>`;
  const script = refreshSeconds === 0 ? '' : `<script>${statusScript}</script>`;
  const head =
    `${refresh}<meta name="description" content="${escapeHtml(description ?? '')}"><meta ` +
    `property="og:title" content="${escapeHtml(title)}"><meta property="og:description" content="` +
    `${escapeHtml(description ?? '')}"><meta property="og:type" content="website"><link rel="icon" ` +
    `href="${favicon(status)}"><link rel="manifest" href="/api/status-page/${slug}/manifest.json">` +
    `<link rel="alternate" type="application/rss+xml" href="/status/${slug}/rss">`;
  const notes = publicPage.incidents
    .map(
      (note) =>
        `<section class="note ${note.style}"><h2>${escapeHtml(note.title)}</h2>${markdown(note.content)}<p ` +
        `class="soft">Since ${formatKumaTimestamp(note.createdDate)}</p></section>`,
    )
    .join('');
  const groups = publicPage.publicGroupList
    .map(
      (group) =>
        `<section><h2>${escapeHtml(group.name)}</h2><ul>` +
        `${group.monitorList.map((monitor) => renderRow(monitor, beats, publicPage.config.showOnlyLastHeartbeat)).join('')}` +
        '</ul></section>',
    )
    .join('');
  const statusLine = `<p class="all ${status}" role="status">${renderStatusIcon(status)}<span>${pageStatusTitles[status]}</span></p>`;
  const maintenances = windows.map(renderMaintenance).join('');
  const sections = `${maintenances}${notes}${groups}${renderOutages(publicPage)}${renderFollowSection(slug, view.follow)}`;
  const updated = `<p class="soft">As of ${formatTimestamp(now)} · <a href="/status/${slug}/rss">RSS</a></p>`;
  const body = `<main><header><h1>${escapeHtml(title)}</h1>${description === null ? '' : markdown(description)}</header>
${statusLine}${sections}
<footer>${footerText === null ? '' : markdown(footerText)}${updated}</footer></main>`;
  return renderDocument(title, head, customStyle(customCSS), `${body}${script}`, { theme, refreshSeconds });
}

function renderMaintenance({ title, description, status, upcoming: [slot] }: Maintenance): string {
  const end = slot?.endDate ?? null;
  const isNow = status === 'under-maintenance';
  const timeText =
    slot === undefined ? '' : formatSlot(Date.parse(slot.startDate), end === null ? NaN : Date.parse(end), isNow);
  const message = isNow ? 'Maintenance' : 'Planned maintenance';
  return (
    `<section class="note window"><h2>${message}: ${escapeHtml(title)}</h2>${markdown(description)}<p ` +
    `class="soft">${timeText}</p></section>`
  );
}

/** Formats `Sat, Nov 28, 10:00 – 12:00 UTC`, or only the start when the end is unknown. */
function formatSlot(start: number, end: number, isNow: boolean): string {
  return Number.isNaN(end)
    ? `${isNow ? 'Since' : 'From'} ${formatTimestamp(start)}`
    : escapeHtml(timestampFormat.formatRange(start, end));
}

function renderFollowSection(slug: string, follow: FollowOptions | undefined): string {
  if (follow === undefined) return '';
  const { mail, topic, link } = follow;
  const name = `<code>${escapeHtml(topic ?? '')}</code>`;
  const push =
    topic === null
      ? ''
      : '<p>Push: follow the topic ' +
        `${link === undefined ? name : `<a href="${escapeHtml(link)}" rel="noreferrer">${name}</a>`} with ` +
        'an app for ntfy.</p>';
  const form = mail
    ? `<form method="post" action="/status/${slug}/subscribe"><label for="email">Mail address</label>` +
      '<span class="ask"><input id="email" name="email" type="email" required maxlength="320" ' +
      'autocomplete="email"><button>Send me news</button></span></form>'
    : '';
  return `<section><h2>Hear of what happens</h2>${form}${push}</section>`;
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
    `href="${escapeHtml(back)}">Back to the page</a></p></main>`;
  return renderDocument(title, '<meta name="robots" content="noindex">', '', body);
}

function renderOutages({ outages, publicGroupList }: PublicPage): string {
  if (outages.length === 0) return '';
  const names = new Map(publicGroupList.flatMap(({ monitorList }) => monitorList.map(({ id, name }) => [id, name])));
  const items = outages.map(({ monitorIds, startedAt, acknowledgedAt, resolvedAt }) => {
    const title = escapeHtml(monitorIds.flatMap((id) => names.get(id) ?? []).join(', '));
    const steps = [
      `Down since ${formatKumaTimestamp(startedAt)}`,
      ...(acknowledgedAt === null ? [] : [`Looked into since ${formatKumaTimestamp(acknowledgedAt)}`]),
      ...(resolvedAt === null ? [] : [`Over since ${formatKumaTimestamp(resolvedAt)}`]),
    ];
    const statusLabel =
      resolvedAt === null ? '<span class="word w0">Down now</span>' : '<span class="word w1">Over</span>';
    return `<li><span class="name">${title}</span>${statusLabel}<span class="soft steps">${steps.join('<br>')}</span></li>`;
  });
  return `<section><h2>Outages of the last seven days</h2><ul>${items.join('')}</ul></section>`;
}

type VisibleMonitor = PublicPage['publicGroupList'][number]['monitorList'][number];

function renderRow(monitor: VisibleMonitor, { heartbeatList, uptimeList }: Heartbeats, onlyLast: boolean): string {
  const id = String(monitor.id);
  const list = heartbeatList[id] ?? [];
  const last = list.at(-1);
  const uptime = uptimeList[`${id}_24`];
  const percent =
    uptime === undefined || last === undefined
      ? ''
      : `${(Math.floor(uptime * 10_000) / 100).toString()}\u00a0% in 24 hours`;
  const statusLabel = last === undefined ? 'Not checked' : visitorStatusLabels[last.status];
  const bars = onlyLast ? list.slice(-1) : list.slice(-visibleBars);
  // The newest heartbeat is at the right end.
  const before = onlyLast ? 0 : visibleBars - bars.length;
  const barElements = [
    ...Array.from({ length: before }, () => '<i></i>'),
    ...bars.map(({ status }) => `<i class="s${String(status)}"></i>`),
  ].join('');
  const url =
    'url' in monitor && typeof monitor.url === 'string' && /^https?:/.test(monitor.url) ? monitor.url : undefined;
  const name = escapeHtml(monitor.name);
  const days = 'certExpiryDaysRemaining' in monitor ? monitor.certExpiryDaysRemaining : '';
  return (
    '<li><span class="name">' +
    `${url === undefined ? name : `<a href="${escapeHtml(url)}" rel="noreferrer">${name}</a>`}</span>` +
    `<span class="word w${String(last?.status ?? 2)}">${statusLabel}</span><span class="soft">` +
    `${[percent, typeof days === 'number' ? formatCertificateDays(days) : ''].filter((part) => part !== '').join(' · ')}` +
    `</span><span class="bars" aria-hidden="true">${barElements}</span></li>`
  );
}

function formatCertificateDays(days: number): string {
  if (days <= 0) return 'certificate ran out';
  return `certificate ${String(days)} ${days === 1 ? 'day' : 'days'} left`;
}

const strokes: Readonly<Record<PageStatus, string>> = {
  up: '<path d="m7.5 12.5 3 3 6-7"/>',
  partial: '<path d="M12 7.5v5.5m0 3v.5"/>',
  down: '<path d="m8.5 8.5 7 7m0-7-7 7"/>',
  maintenance: '<path d="M12 11v5.5m0-9v.5"/>',
  none: '<path d="M8 12h8"/>',
};

/** Renders the status icon, so that the status is not conveyed by color alone. */
function renderStatusIcon(status: PageStatus): string {
  return (
    '<svg viewBox="0 0 24 24" width="28" height="28" fill="none" stroke-width="2.25" ' +
    'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="12" cy="12" r="11" ' +
    `stroke="none" fill="currentColor"/><g stroke="var(--card)">${strokes[status]}</g></svg>`
  );
}

function favicon(status: PageStatus): string {
  const colour = { up: '1a7f47', partial: 'b7791f', down: 'c22a1c', maintenance: '2456c8', none: '5b6472' }[status];
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='#${colour}'/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Renders the page color, which browsers use for their toolbars. */
function renderThemeColor(theme: string): string {
  const colors = { light: '#f7fbfc', dark: '#0d151b' };
  if (theme === 'light' || theme === 'dark') return `<meta name="theme-color" content="${colors[theme]}">`;
  return Object.entries(colors)
    .map(([scheme, color]) => `<meta name="theme-color" media="(prefers-color-scheme: ${scheme})" content="${color}">`)
    .join('');
}

const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';

function renderDocument(
  title: string,
  head: string,
  style: string,
  body: string,
  { theme = 'auto', refreshSeconds = 0 }: { readonly theme?: string; readonly refreshSeconds?: number } = {},
): string {
  const refresh = refreshSeconds === 0 ? '' : ` data-refresh="${String(refreshSeconds)}"`;
  const titleTag = `${renderThemeColor(theme)}<title>${escapeHtml(title)}</title>`;
  const styleTag = `<style>${sheet}${style}</style>`;
  return `<!DOCTYPE html>
<html lang="en" data-theme="${theme}"${refresh}><head><meta charset="utf-8">${viewport}${titleTag}${head}${styleTag}</head>
<body>${body}</body></html>`;
}

// Colors of the app's pages.
const dark =
  '--page:oklch(19% .018 245);--card:oklch(23% .02 245);--sunken:oklch(16% .016 245);--ink:oklch(95% ' +
  '.008 245);--soft:oklch(75% .015 245);--edge:oklch(31% .02 245);--rim:oklch(52% .02 ' +
  '245);--up:oklch(78% .13 155);--down:oklch(74% .14 25);--wait:oklch(80% .12 70);--care:oklch(72% ' +
  '.1 230);--on:oklch(19% .018 245)';
const light =
  '--page:oklch(98.5% .004 230);--card:#fff;--sunken:oklch(96% .006 230);--ink:oklch(24% .02 ' +
  '245);--soft:oklch(45% .02 245);--edge:oklch(90% .01 235);--rim:oklch(66% .02 240);--up:oklch(50% ' +
  '.11 155);--down:oklch(51% .18 25);--wait:oklch(52% .11 70);--care:oklch(52% .11 235);--on:#fff';
const sheet = `:root{color-scheme:light;${light}}
[data-theme=dark]{color-scheme:dark;${dark}}@media (prefers-color-scheme:dark){[data-theme=auto]{color-scheme:dark;${dark}}}
*{box-sizing:border-box;margin:0}
body{background:var(--page);color:var(--ink);font:15px/1.5 'Inter Variable',Inter,system-ui,sans-serif;
  font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
main{max-width:46rem;margin:0 auto;padding:clamp(1.5rem,6vw,3.5rem) 1rem 2rem;display:grid;grid-template-columns:minmax(0,1fr);gap:1.5rem}
h1,h2{line-height:1.2;letter-spacing:-.01em;text-wrap:balance}
h1{font-size:1.75rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin-bottom:.75rem}
header p{margin-top:.5rem;color:var(--soft)}
section,.all{background:var(--card);border:1px solid var(--edge);border-radius:.75rem;padding:1.25rem;overflow-wrap:anywhere}
a{color:inherit;text-underline-offset:2px}
a:focus-visible,button:focus-visible,input:focus-visible{outline:2px solid var(--care);outline-offset:2px}
.all{--tone:var(--wait);display:flex;align-items:center;gap:.75rem;font-size:1.15rem;font-weight:600;
  border-color:color-mix(in oklab,var(--tone),transparent 55%);
  background:color-mix(in oklab,var(--tone),var(--card) 92%)}
.all svg{flex:none;color:var(--tone)}.all.up{--tone:var(--up)}
.all.down{--tone:var(--down)}.all.maintenance{--tone:var(--care)}
.all.none{--tone:var(--soft)}
ul{list-style:none;padding:0;display:grid;gap:1.25rem}section.note ul{list-style:disc;padding-left:1.25rem;gap:.25rem}
li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.125rem 1rem;align-items:baseline}
section.note li{display:list-item}li+li{padding-top:1.25rem;border-top:1px solid var(--edge)}
section.note li+li{padding-top:0;border-top:0}
.name{overflow-wrap:anywhere;font-weight:500}li .soft{grid-column:1/-1}
.soft{color:var(--soft);font-size:.8125rem}.bars{grid-column:1/-1;display:flex;gap:2px;height:1.75rem;margin-top:.375rem}
.bars i{flex:1;min-width:0;max-width:1.2rem;border-radius:2px;background:var(--edge)}
.bars .s2{background:var(--wait)}.bars .s1{background:var(--up)}
.bars .s0{background:var(--down)}.bars .s3{background:var(--care)}
.word{display:inline-flex;align-items:center;gap:.4rem;font-weight:600;white-space:nowrap}
.word::before{content:'';width:.55rem;height:.55rem;border-radius:50%;background:currentColor}
.w0::before{border-radius:1px}.w1{color:var(--up)}.w0{color:var(--down)}
.w2{color:var(--wait)}.w3{color:var(--care)}
form{display:grid;gap:.375rem}.ask{display:flex;flex-wrap:wrap;gap:.5rem}
section p{margin-top:.5rem}section p:first-child{margin-top:0}
input{flex:1 1 14rem;min-width:0;padding:.5rem .75rem}
button{padding:.5rem 1rem;cursor:pointer;background:var(--care);border-color:var(--care);color:var(--on);font-weight:600}
input,button{font:inherit;min-height:2.75rem;border:1px solid var(--rim);border-radius:.375rem}
button{font-weight:600}input{background:var(--sunken);color:var(--ink)}
section form+p{margin-top:.75rem}
.note{--tone:var(--care);border-color:color-mix(in oklab,var(--tone),transparent 55%);
  background:color-mix(in oklab,var(--tone),var(--card) 94%)}
.note.warning{--tone:var(--wait)}.note.danger{--tone:var(--down)}
footer{display:grid;gap:.5rem;text-align:center}`;

/** Sanitizes custom CSS: it must not load resources or close the style element. */
function customStyle(css: string | null): string {
  return (css ?? '')
    .replaceAll('<', '\\3c ')
    .replaceAll(/@import[^;]*;?/gi, '')
    .replaceAll(/url\s*\(/gi, 'none(');
}

const reader = new Marked({
  async: false,
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ text }) => escapeHtml(text),
    link({ href, tokens }) {
      const message = this.parser.parseInline(tokens);
      return /^(https?:|mailto:)/i.test(href)
        ? `<a href="${escapeHtml(href)}" rel="noreferrer">${message}</a>`
        : message;
    },
  },
});

function markdown(text: string): string {
  return reader.parse(text, { async: false });
}
