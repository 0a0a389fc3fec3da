import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import type { Reply, ResponseHeaders } from '../../kit/http/respond.ts';
import { getAccessHeaders, type PageAccess } from '../app-api/page-access.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { getCertificateDays } from '../domain/certificate.ts';
import { getAveragePing } from '../domain/tally.ts';
import type { StoredPage, StatusPages } from '../store/status-pages.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { pageStatus } from '../wire/page-status.ts';

export interface BadgeDependencies {
  readonly clock: Clock;
  readonly monitoring: Monitoring;
  readonly pages: StatusPages;
  readonly access: PageAccess;
}

type Query = (name: string) => string | undefined;
interface BadgeContent {
  readonly label?: string;
  readonly message: string;
  readonly color: string;
}

const styles = ['flat', 'plastic', 'flat-square', 'for-the-badge', 'social'] as const;
const colors = { up: '#66c20a', down: '#c2290a', pending: '#f8a306', maintenance: '#1747f5', none: '#999' } as const;
const blue = 'blue';
const maxTextLength = 200;

type MakeBadge = (
  monitor: RuntimeMonitor,
  query: Query,
  duration: string | undefined,
) => Promise<BadgeContent> | BadgeContent;

/**
 * Returns the routes for badges of monitors on public status pages. Other monitors are indistinguishable from missing
 * ones.
 */
export function badgeRoutes(dependencies: BadgeDependencies): readonly Route[] {
  const kinds: Readonly<Record<string, MakeBadge>> = {
    status: (monitor, query) => statusBadge(monitor, query),
    uptime: (monitor, query, duration) => uptimeBadge(dependencies, monitor, query, duration),
    ping: (monitor, query, duration) => pingBadge(dependencies, monitor, query, duration, { name: 'Avg. Ping' }),
    'avg-response': (monitor, query, duration) =>
      pingBadge(dependencies, monitor, query, duration, { name: 'Avg. Response', maxHours: 720 }),
    'cert-exp': (monitor, query) => certificateBadge(monitor, query, dependencies.clock.now()),
    response: (monitor, query) => responseBadge(monitor, query),
  };
  const monitorRoutes = Object.entries(kinds).flatMap(([kind, make]) => {
    const handle = (exchange: Exchange): Promise<Reply> => handleMonitorBadge(dependencies, make, exchange);
    const path = `/api/badge/:id/${kind}`;
    return [
      { method: 'GET', path, handle },
      { method: 'GET', path: `${path}/:duration`, handle },
    ];
  });
  const pageRoute: Route = {
    method: 'GET',
    path: '/api/status-page/:slug/badge',
    handle: (exchange) => handlePageBadge(dependencies, exchange),
  };
  return [...monitorRoutes, pageRoute];
}

async function handleMonitorBadge(
  dependencies: BadgeDependencies,
  make: MakeBadge,
  exchange: Exchange,
): Promise<Reply> {
  const { id: idText = '', duration } = exchange.params;
  const query = getQuery(exchange);
  const id = Number.parseInt(idText, 10);
  if (Number.isNaN(id)) throw new Problem('uptime.badge', 403, 'Invalid monitor ID');
  const { access, pages } = dependencies;
  const page = await access.findVisible(pages.findPublishedWith(id), exchange.request);
  const monitor = page === undefined ? undefined : dependencies.monitoring.monitors.find(id);
  const content = monitor === undefined ? notAvailable : await make(monitor, query, duration);
  return toReply(content, query, page === undefined ? {} : getAccessHeaders(page));
}

async function handlePageBadge(dependencies: BadgeDependencies, exchange: Exchange): Promise<Reply> {
  const query = getQuery(exchange);
  const page = dependencies.pages.find(exchange.params['slug'] ?? '');
  if (page?.config.published !== true || !(await dependencies.access.mayView(page, exchange.request)))
    return toReply(notAvailable, query);
  return toReply(pageBadge(dependencies, page, query), query, getAccessHeaders(page));
}

const notAvailable: BadgeContent = { message: 'N/A', color: colors.none };

function statusBadge({ checkState }: RuntimeMonitor, query: Query): BadgeContent {
  const name = (['down', 'up', 'pending', 'maintenance'] as const)[checkState.status ?? heartbeatStatus.pending];
  const defaultLabel = { down: 'Down', up: 'Up', pending: 'Pending', maintenance: 'Maintenance' }[name];
  return {
    label: query('label') ?? 'Status',
    message: query(`${name}Label`) ?? defaultLabel,
    color: query(`${name}Color`) ?? colors[name],
  };
}

async function uptimeBadge(
  { monitoring: { statistics } }: BadgeDependencies,
  monitor: RuntimeMonitor,
  query: Query,
  duration = '24h',
): Promise<BadgeContent> {
  const hours = parseHours(duration);
  const ratio = await statistics.getUptimeRatio(monitor, hours);
  const value = getOverride(query) ?? ratio * 100;
  const percent = Number.isInteger(value) && value !== 100 && value !== 0 ? String(value) : value.toPrecision(4);
  return {
    label: getLabel(query, `Uptime (${getLeadingNumber(duration)}${query('labelSuffix') ?? 'h'})`),
    message: addAffixes(query, value === 0 ? '0' : percent, '%'),
    color: query('color') ?? toColor(value / 100),
  };
}

async function pingBadge(
  { monitoring: { statistics } }: BadgeDependencies,
  monitor: RuntimeMonitor,
  query: Query,
  duration: string | undefined,
  { name, maxHours = Infinity }: { readonly name: string; readonly maxHours?: number },
): Promise<BadgeContent> {
  const durationText = duration ?? '24h';
  const hours = Math.min(maxHours, parseHours(durationText));
  const ping = getOverride(query) ?? getAveragePing(await statistics.getTally(monitor, hours));
  if (ping === null) return notAvailable;
  return {
    label: getLabel(query, `${name} (${getLeadingNumber(durationText)}${query('labelSuffix') ?? 'h'})`),
    message: addAffixes(query, String(Math.round(ping)), 'ms'),
    color: query('color') ?? blue,
  };
}

function certificateBadge({ chain }: RuntimeMonitor, query: Query, now: number): BadgeContent {
  const days = getOverride(query) ?? getCertificateDays(chain, now);
  if (chain === undefined || days === null) return { message: 'No/Bad Cert', color: colors.none };
  if (!chain.trusted) return { message: 'Bad Cert', color: query('downColor') ?? colors.down };
  const [warn, down] = [toNumber(query('warnDays'), 14), toNumber(query('downDays'), 7)];
  const color =
    days > warn
      ? (query('upColor') ?? colors.up)
      : days > down
        ? (query('warnColor') ?? '#eed202')
        : (query('downColor') ?? colors.down);
  const end = new Date(chain.chain[0]?.validTo ?? 0).toISOString().slice(0, 10);
  return {
    label: getLabel(query, 'Cert Exp.'),
    message: query('date') === undefined ? addAffixes(query, String(days), ' days') : addAffixes(query, end, ''),
    color,
  };
}

function responseBadge({ checkState }: RuntimeMonitor, query: Query): BadgeContent {
  const ping = getOverride(query) ?? checkState.ping;
  if (ping === null) return notAvailable;
  return {
    label: getLabel(query, 'Response'),
    message: addAffixes(query, String(ping), 'ms'),
    color: query('color') ?? blue,
  };
}

function pageBadge({ monitoring: { monitors } }: BadgeDependencies, page: StoredPage, query: Query): BadgeContent {
  const label = query('label') ?? '';
  switch (pageStatus(page, monitors)) {
    case 'maintenance':
      return { label, message: 'Maintenance', color: query('maintenanceColor') ?? '#808080' };
    case 'up':
      return { label, message: 'Up', color: query('upColor') ?? colors.up };
    case 'partial':
      return { label, message: 'Degraded', color: query('partialColor') ?? '#F6BE00' };
    case 'down':
      return { label, message: 'Down', color: query('downColor') ?? colors.down };
    default:
      return notAvailable;
  }
}

async function toReply(
  { label = '', message, color }: BadgeContent,
  query: Query,
  accessHeaders: ResponseHeaders = {},
): Promise<Reply> {
  const style = styles.find((one) => one === query('style')) ?? 'flat';
  const labelColor = query('labelColor');
  // Contains the widths of all characters: 1.7 MB.
  const { makeBadge } = await import('badge-maker');
  const svg = makeBadge({ label, message, color, style, ...(labelColor === undefined ? {} : { labelColor }) });
  const headers = {
    'Access-Control-Allow-Origin': '*',
    'Cache-Control': 'no-cache',
    // Prevents script execution when the image is opened as a page.
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
    'Content-Type': 'image/svg+xml; charset=utf-8',
    ...accessHeaders,
  };
  return { status: 200, headers, body: svg };
}

function getQuery({ query }: Exchange): Query {
  return (name) => {
    const [value, ...others] = query.getAll(name);
    return value === undefined || value === '' || others.length > 0 ? undefined : value.slice(0, maxTextLength);
  };
}

function getLabel(query: Query, fallback: string): string {
  return `${query('labelPrefix') ?? ''}${query('label') ?? fallback}`;
}

function addAffixes(query: Query, value: string, unit: string): string {
  return `${query('prefix') ?? ''}${value}${query('suffix') ?? unit}`;
}

function getOverride(query: Query): number | undefined {
  const value = Number(query('value'));
  return Number.isNaN(value) ? undefined : value;
}

/** Returns a color from red (0) to green (1). */
function toColor(share: number): string {
  const hue = Math.min(1, Math.max(0, share)) * 80 + 10;
  // Equals `hsl(hue, 90%, 40%)` in CSS.
  const part = (n: number): string => {
    const at = (n + hue / 30) % 12;
    const value = 0.4 - 0.36 * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

function toNumber(text: string | undefined, fallback: number): number {
  const value = Number(text);
  return text === undefined || Number.isNaN(value) ? fallback : value;
}

const unitHours: Readonly<Record<string, number>> = { m: 1 / 60, h: 1, d: 24, w: 168, M: 720, y: 8760 };
const maxCounts: Readonly<Record<string, number>> = { m: 1440, h: 720, d: 365, w: 52, M: 12, y: 1 };

/** Parses a duration into hours; a number without a unit means hours. */
function parseHours(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? [];
  if (digits === '') throw new Problem('uptime.badge', 403, `Invalid duration: ${text.slice(0, maxTextLength)}`);
  const hours = unitHours[unit || 'h'];
  if (hours === undefined) {
    throw new Problem(
      'uptime.badge',
      403,
      `Unsupported unit (${unit.slice(0, 50)}) for badge duration ${text.slice(0, maxTextLength)}`,
    );
  }
  const maxCount = maxCounts[unit || 'h'] ?? 0;
  const count = Number(digits);
  if (count < 1 || count > maxCount)
    throw new Problem('uptime.badge', 403, `Invalid duration: ${text.slice(0, maxTextLength)}`);
  return count * hours;
}

function getLeadingNumber(text: string): string {
  return String(Number.parseInt(text, 10));
}
