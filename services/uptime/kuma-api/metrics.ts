import type { RequestHandler } from 'express';
import type { Context } from '../../contracts/service.ts';
import { certificateDays } from '../domain/certificate.ts';
import { hostWithoutCredentials, withoutCredentials } from '../domain/target.ts';
import { averagePing, uptimeByBeats } from '../domain/tally.ts';
import { countOf } from '../metrics.ts';
import type { Tags } from '../store/tags.ts';
import type { Figures } from '../monitoring/statistics.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { Watched } from '../monitoring/monitor-state.ts';
import { tagsOf } from '../wire/kuma-monitor.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import { callerOf, requireRight } from '../app-api/sign-in.ts';

const windows = [
  ['1d', 24],
  ['30d', 720],
  ['365d', 8760],
] as const;

export interface PeerMetricsParts {
  readonly context: Context;
  readonly keys: ApiKeys;
  readonly monitors: Monitors;
  readonly figures: Figures;
  readonly tags: Tags;
}

/**
 * Serves `/metrics` in the format of Uptime Kuma. The page is built for each request, so that removed monitors have no
 * series.
 */
export function peerMetrics({ context, keys, monitors, figures, tags }: PeerMetricsParts): RequestHandler {
  return async (request, response) => {
    requireRight(await callerOf(context, keys, request), 'read');
    const now = context.clock.now();
    const active = monitors.all().filter((watched) => monitors.isActive(watched));
    const page = new Page();
    for (const watched of active) await describe(page, watched, { figures, tags: tags.known, now });
    const counts = countOf(monitors.all(), (watched) => monitors.isActive(watched));
    page.add('uptime_monitors_up', 'Active monitors whose status is up.', [], counts.up);
    for (const [state, count] of Object.entries(counts)) {
      page.add('uptime_monitors', 'Monitors by their state.', [['state', state]], count);
    }
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    response.end(page.text());
  };
}

async function describe(
  page: Page,
  watched: Watched,
  { figures, tags, now }: { readonly figures: Figures; readonly tags: KnownTags; readonly now: number },
): Promise<void> {
  const labels = labelsOf(watched, tags);
  const { standing, chain } = watched;
  if (standing.status !== null) {
    page.add('monitor_status', 'Monitor Status (1 = UP, 0= DOWN, 2= PENDING, 3= MAINTENANCE)', labels, standing.status);
    page.add('monitor_response_time', 'Monitor Response Time (ms)', labels, standing.ping ?? -1);
  }
  for (const [window, hours] of windows) {
    const tally = await figures.over(watched, hours);
    const ratio = uptimeByBeats(tally);
    if (ratio === null) continue;
    const windowed = [...labels, ['window', window] as const];
    page.add(
      'monitor_uptime_ratio',
      "Uptime ratio calculated over sliding window specified by the 'window' label. (0.0 - 1.0)",
      windowed,
      ratio,
    );
    page.add(
      'monitor_response_time_seconds',
      "Average response time in seconds calculated over sliding window specified by the 'window' label",
      windowed,
      (averagePing(tally) ?? 0) / 1000,
    );
  }
  const days = certificateDays(chain, now);
  if (chain === undefined || days === null) return;
  page.add('monitor_cert_days_remaining', 'The number of days remaining until the certificate expires', labels, days);
  page.add('monitor_cert_is_valid', 'Is the certificate still valid? (1 = Yes, 0= No)', labels, chain.trusted ? 1 : 0);
}

type KnownTags = Tags['known'];
type Labels = readonly (readonly [string, string])[];

function labelsOf(watched: Watched, tags: KnownTags): Labels {
  const { id, config } = watched;
  const said = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) || 'null' : 'null';
  return [
    ['monitor_id', String(id)],
    ['monitor_name', config.name],
    ['monitor_type', config.type],
    ['monitor_url', config.url === null ? 'null' : withoutCredentials(config.url)],
    ['monitor_hostname', config.hostname ? hostWithoutCredentials(config.hostname) : 'null'],
    ['monitor_port', said(config.port)],
    ...tagLabels(watched, tags),
  ];
}

/**
 * Returns a label for each tag, as Uptime Kuma names them: letters, digits and underscores. Several values of a tag are
 * joined.
 */
function tagLabels(watched: Watched, tags: KnownTags): Labels {
  const labels = new Map<string, string[]>();
  for (const { tag_id: id, value } of tagsOf(watched)) {
    const name = (tags.get(id)?.name ?? '').replaceAll(/[^A-Za-z0-9_]/g, '').replace(/^\d+/, '');
    if (name === '' || /^(monitor_|__|window$)/.test(name)) continue;
    const values = labels.get(name) ?? [];
    labels.set(name, values);
    if (value !== '') values.push(value);
  }
  return [...labels].map(([name, values]) => [name, values.join(',') || 'null'] as const);
}

class Page {
  readonly #families = new Map<string, string[]>();

  add(name: string, help: string, labels: Labels, value: number): void {
    let lines = this.#families.get(name);
    if (lines === undefined) this.#families.set(name, (lines = [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`]));
    const set = labels.map(([label, text]) => `${label}="${escaped(text)}"`).join(',');
    lines.push(`${name}${set === '' ? '' : `{${set}}`} ${String(value)}`);
  }

  text(): string {
    return `${[...this.#families.values()].flat().join('\n')}\n`;
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
