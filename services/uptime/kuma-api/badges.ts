import { makeBadge } from 'badge-maker';
import express, { type Request, type Response, type Router } from 'express';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { certificateDays } from '../domain/certificate.ts';
import { averagePing } from '../domain/tally.ts';
import type { KnownPage, StatusPages } from '../store/status-pages.ts';
import type { Figures } from '../monitoring/statistics.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { Watched } from '../monitoring/monitor-state.ts';
import { pageStatus } from '../wire/page-status.ts';

export interface BadgeParts {
  readonly clock: Clock;
  readonly monitors: Monitors;
  readonly pages: StatusPages;
  readonly figures: Figures;
}

type Query = (name: string) => string | undefined;
interface Shown {
  readonly label?: string;
  readonly message: string;
  readonly color: string;
}

const styles = ['flat', 'plastic', 'flat-square', 'for-the-badge', 'social'] as const;
const colors = { up: '#66c20a', down: '#c2290a', pending: '#f8a306', maintenance: '#1747f5', none: '#999' } as const;
const blue = 'blue';
const longest = 200;

/**
 * Returns the routes for badges of monitors on public status pages. Other monitors are indistinguishable from missing
 * ones.
 */
export function badgeRoutes(parts: BadgeParts): Router {
  const router = express.Router();
  const kinds: Readonly<
    Record<string, (watched: Watched, query: Query, given: string | undefined) => Promise<Shown> | Shown>
  > = {
    status: (watched, query) => statusBadge(watched, query),
    uptime: (watched, query, given) => uptimeBadge(parts, watched, query, given),
    ping: (watched, query, given) => pingBadge(parts, watched, query, given, 'Avg. Ping'),
    'avg-response': (watched, query, given) => pingBadge(parts, watched, query, given, 'Avg. Response'),
    'cert-exp': (watched, query) => certificateBadge(watched, query, parts.clock.now()),
    response: (watched, query) => responseBadge(watched, query),
  };
  for (const [kind, make] of Object.entries(kinds)) {
    router.get(
      `/api/badge/:id/${kind}{/:duration}`,
      async (request: Request<{ id: string; duration?: string }>, response) => {
        response.setHeader('Access-Control-Allow-Origin', '*');
        const query = queryOf(request);
        const id = Number.parseInt(request.params.id, 10);
        if (Number.isNaN(id)) throw new Problem('uptime.badge', 403, 'Invalid monitor ID');
        const watched = parts.pages.isPublic(id) ? parts.monitors.find(id) : undefined;
        const shown = watched === undefined ? none : await make(watched, query, request.params.duration);
        send(request, response, shown, query);
      },
    );
  }
  router.get('/api/status-page/:slug/badge', (request, response) => {
    const query = queryOf(request);
    const page = parts.pages.find(request.params.slug);
    const shown = page?.config.published === true ? pageBadge(parts, page, query) : none;
    send(request, response, shown, query);
  });
  return router;
}

const none: Shown = { message: 'N/A', color: colors.none };

function statusBadge({ standing }: Watched, query: Query): Shown {
  const name = (['down', 'up', 'pending', 'maintenance'] as const)[standing.status ?? heartbeatStatus.pending];
  const words = { down: 'Down', up: 'Up', pending: 'Pending', maintenance: 'Maintenance' }[name];
  return {
    label: query('label') ?? 'Status',
    message: query(`${name}Label`) ?? words,
    color: query(`${name}Color`) ?? colors[name],
  };
}

async function uptimeBadge({ figures }: BadgeParts, watched: Watched, query: Query, given = '24h'): Promise<Shown> {
  const hours = hoursOf(given);
  const ratio = await figures.ratio(watched, hours);
  const value = overridden(query) ?? ratio * 100;
  const percent = Number.isInteger(value) && value !== 100 && value !== 0 ? String(value) : value.toPrecision(4);
  return {
    label: labelled(query, `Uptime (${numberOf(given)}${query('labelSuffix') ?? 'h'})`),
    message: affixed(query, value === 0 ? '0' : percent, '%'),
    color: query('color') ?? colorOf(value / 100),
  };
}

async function pingBadge(
  { figures }: BadgeParts,
  watched: Watched,
  query: Query,
  given: string | undefined,
  name: string,
): Promise<Shown> {
  const asked = given ?? '24h';
  const hours = name === 'Avg. Response' ? Math.min(720, hoursOf(asked)) : hoursOf(asked);
  const ping = overridden(query) ?? averagePing(await figures.over(watched, hours));
  if (ping === null) return none;
  return {
    label: labelled(query, `${name} (${numberOf(asked)}${query('labelSuffix') ?? 'h'})`),
    message: affixed(query, String(Math.round(ping)), 'ms'),
    color: query('color') ?? blue,
  };
}

function certificateBadge({ chain }: Watched, query: Query, now: number): Shown {
  const days = overridden(query) ?? certificateDays(chain, now);
  if (chain === undefined || days === null) return { message: 'No/Bad Cert', color: colors.none };
  if (!chain.trusted) return { message: 'Bad Cert', color: query('downColor') ?? colors.down };
  const [warn, down] = [numeric(query('warnDays'), 14), numeric(query('downDays'), 7)];
  const color =
    days > warn
      ? (query('upColor') ?? colors.up)
      : days > down
        ? (query('warnColor') ?? '#eed202')
        : (query('downColor') ?? colors.down);
  const end = new Date(chain.chain[0]?.validTo ?? 0).toISOString().slice(0, 10);
  return {
    label: labelled(query, 'Cert Exp.'),
    message: query('date') === undefined ? affixed(query, String(days), ' days') : affixed(query, end, ''),
    color,
  };
}

function responseBadge({ standing }: Watched, query: Query): Shown {
  const ping = overridden(query) ?? standing.ping;
  if (ping === null) return none;
  return {
    label: labelled(query, 'Response'),
    message: affixed(query, String(ping), 'ms'),
    color: query('color') ?? blue,
  };
}

function pageBadge({ monitors }: BadgeParts, page: KnownPage, query: Query): Shown {
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
      return none;
  }
}

function send(request: Request, response: Response, { label = '', message, color }: Shown, query: Query): void {
  const style = styles.find((one) => one === query('style')) ?? 'flat';
  const labelColor = query('labelColor');
  const svg = makeBadge({ label, message, color, style, ...(labelColor === undefined ? {} : { labelColor }) });
  response.setHeader('Cache-Control', 'no-cache');
  // Prevents script execution when the image is opened as a page.
  response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
  response.type('image/svg+xml');
  if (request.method === 'HEAD') response.end();
  else response.send(svg);
}

function queryOf(request: Request): Query {
  return (name) => {
    const value = request.query[name];
    return typeof value === 'string' && value !== '' ? value.slice(0, longest) : undefined;
  };
}

function labelled(query: Query, usual: string): string {
  return `${query('labelPrefix') ?? ''}${query('label') ?? usual}`;
}

function affixed(query: Query, value: string, unit: string): string {
  return `${query('prefix') ?? ''}${value}${query('suffix') ?? unit}`;
}

function overridden(query: Query): number | undefined {
  const value = Number(query('value'));
  return Number.isNaN(value) ? undefined : value;
}

/** Returns a color from red (0) to green (1). */
function colorOf(share: number): string {
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

function numeric(text: string | undefined, usual: number): number {
  const value = Number(text);
  return text === undefined || Number.isNaN(value) ? usual : value;
}

const unitHours: Readonly<Record<string, number>> = { m: 1 / 60, h: 1, d: 24, w: 168, M: 720, y: 8760 };
const mostOf: Readonly<Record<string, number>> = { m: 1440, h: 720, d: 365, w: 52, M: 12, y: 1 };

/** Parses a duration into hours; a number without a unit means hours. */
function hoursOf(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? [];
  if (digits === '') throw new Problem('uptime.badge', 403, `Invalid duration: ${text.slice(0, longest)}`);
  const hours = unitHours[unit || 'h'];
  if (hours === undefined) {
    throw new Problem(
      'uptime.badge',
      403,
      `Unsupported unit (${unit.slice(0, 50)}) for badge duration ${text.slice(0, longest)}`,
    );
  }
  const most = mostOf[unit || 'h'] ?? 0;
  const count = Number(digits);
  if (count < 1 || count > most) throw new Problem('uptime.badge', 403, `Invalid duration: ${text.slice(0, longest)}`);
  return count * hours;
}

function numberOf(text: string): string {
  return String(Number.parseInt(text, 10));
}
