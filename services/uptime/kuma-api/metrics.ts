import type { Context } from '../../contracts/service.ts';
import type { Route } from '../../kit/http/listener.ts';
import { textReply } from '../../kit/http/respond.ts';
import { getCertificateDays } from '../domain/certificate.ts';
import { removeHostCredentials, removeCredentials } from '../domain/target.ts';
import { getAveragePing, getUptimeByHeartbeats } from '../domain/tally.ts';
import { countByState } from '../metrics.ts';
import type { UptimeStores } from '../store/stores.ts';
import type { Statistics } from '../monitoring/statistics.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { getTags } from '../wire/kuma-monitor.ts';
import { authenticateCaller, requireRight } from '../app-api/sign-in.ts';
import { escapeLabelValue } from '../../kit/escape-label-value.ts';

const windows = [
  ['1d', 24],
  ['30d', 720],
  ['365d', 8760],
] as const;

/**
 * Serves `/metrics` in the format of Uptime Kuma. The page is built for each request, so that removed monitors have no
 * series.
 */
export function createMetricsHandler(
  context: Context,
  { monitors, statistics }: Monitoring,
  { keys, tags }: UptimeStores,
): Route['handle'] {
  return async ({ request }) => {
    requireRight(await authenticateCaller(context, keys, request), 'read');
    const now = context.clock.now();
    const active = monitors.all().filter((monitor) => monitors.isActive(monitor));
    const page = new MetricsPage();
    for (const monitor of active) await addMonitor(page, monitor, { statistics, tags: tags.all, now });
    const counts = countByState(monitors.all(), (monitor) => monitors.isActive(monitor));
    page.add('uptime_monitors_up', 'Active monitors whose status is up.', [], counts.up);
    for (const [state, count] of Object.entries(counts)) {
      page.add('uptime_monitors', 'Monitors by their state.', [['state', state]], count);
    }
    return textReply(200, page.text(), { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
  };
}

async function addMonitor(
  page: MetricsPage,
  monitor: RuntimeMonitor,
  { statistics, tags, now }: { readonly statistics: Statistics; readonly tags: TagMap; readonly now: number },
): Promise<void> {
  const labels = getLabels(monitor, tags);
  const { checkState, chain } = monitor;
  if (checkState.status !== null) {
    page.add(
      'monitor_status',
      'Monitor Status (1 = UP, 0= DOWN, 2= PENDING, 3= MAINTENANCE)',
      labels,
      checkState.status,
    );
    page.add('monitor_response_time', 'Monitor Response Time (ms)', labels, checkState.ping ?? -1);
  }
  for (const [window, hours] of windows) {
    const tally = await statistics.getTally(monitor, hours);
    const ratio = getUptimeByHeartbeats(tally);
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
      (getAveragePing(tally) ?? 0) / 1000,
    );
  }
  const days = getCertificateDays(chain, now);
  if (chain === undefined || days === null) return;
  page.add('monitor_cert_days_remaining', 'The number of days remaining until the certificate expires', labels, days);
  page.add('monitor_cert_is_valid', 'Is the certificate still valid? (1 = Yes, 0= No)', labels, chain.trusted ? 1 : 0);
}

type TagMap = UptimeStores['tags']['all'];
type Labels = readonly (readonly [string, string])[];

function getLabels(monitor: RuntimeMonitor, tags: TagMap): Labels {
  const { id, config } = monitor;
  const toLabelValue = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) || 'null' : 'null';
  return [
    ['monitor_id', String(id)],
    ['monitor_name', config.name],
    ['monitor_type', config.type],
    ['monitor_url', config.url === null ? 'null' : removeCredentials(config.url)],
    ['monitor_hostname', config.hostname ? removeHostCredentials(config.hostname) : 'null'],
    ['monitor_port', toLabelValue(config.port)],
    ...tagLabels(monitor, tags),
  ];
}

/**
 * Returns a label for each tag, as Uptime Kuma names them: letters, digits and underscores. Several values of a tag are
 * joined.
 */
function tagLabels(monitor: RuntimeMonitor, tags: TagMap): Labels {
  const labels = new Map<string, string[]>();
  for (const { tag_id: id, value } of getTags(monitor)) {
    const name = (tags.get(id)?.name ?? '').replaceAll(/[^A-Za-z0-9_]/g, '').replace(/^\d+/, '');
    if (name === '' || /^(monitor_|__|window$)/.test(name)) continue;
    const values = labels.get(name) ?? [];
    labels.set(name, values);
    if (value !== '') values.push(value);
  }
  return [...labels].map(([name, values]) => [name, values.join(',') || 'null'] as const);
}

class MetricsPage {
  readonly #families = new Map<string, string[]>();

  add(name: string, help: string, labels: Labels, value: number): void {
    let lines = this.#families.get(name);
    if (lines === undefined) this.#families.set(name, (lines = [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`]));
    const labelSet = labels.map(([label, text]) => `${label}="${escapeLabelValue(text)}"`).join(',');
    lines.push(`${name}${labelSet === '' ? '' : `{${labelSet}}`} ${String(value)}`);
  }

  text(): string {
    return `${[...this.#families.values()].flat().join('\n')}\n`;
  }
}
