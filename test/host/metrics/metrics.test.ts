import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMetrics, type HostMetrics } from '../../../main/host/metrics/metrics.ts';
import { quietLog } from '../http/raw.ts';

const open = (): HostMetrics => createMetrics({ version: '1.2.3' });

/** Installed by the bootstrap in CI; optional elsewhere. */
function findPromtool(): string | undefined {
  const promtool = join(import.meta.dirname, '../../../.cache/tools/promtool');
  if (existsSync(promtool)) return promtool;
  return spawnSync('promtool', ['--version']).error === undefined ? 'promtool' : undefined;
}
const promtool = findPromtool();

async function busy(): Promise<HostMetrics> {
  const metrics = open();
  const push = metrics.forService('push');
  push
    .counter({
      name: 'push_messages_published_total',
      help: 'Messages published.',
      labels: ['topic'],
      initial: [{ topic: 'a"b\\c\nd' }],
    })
    .inc({ topic: 'ä' }, 2);
  push.gauge({
    name: 'push_subscribers',
    help: 'Open streams.\nSecond line with \\.',
    collect: () => Promise.resolve(3),
  });
  push
    .histogram({ name: 'push_publish_seconds', help: 'From request to answer.', labels: ['kind'], buckets: [0.1, 1] })
    .observe(0.5, { kind: 'json' });
  const mail = metrics.forService('mail');
  mail.counter({ name: 'mail_messages_total', help: 'Messages accepted.' }).inc();
  for (const service of [push, mail]) service.gauge({ name: 'jobs_waiting', help: 'Jobs that wait.' }).set(1);
  metrics.host.gauge({ name: 'host_services', help: 'Services by state.', labels: ['state'] }).set(9, { state: 'up' });
  metrics.http.request('push', 'POST', 200, 0.01);
  metrics.http.request('push', 'PROPFIND', 405, 0.01);
  metrics.http.request('mail', 'GET', 200, 0.01);
  return metrics;
}

describe('metrics pages', () => {
  test.runIf(promtool !== undefined || process.env['CI'] !== undefined)(
    'passes promtool without complaints',
    async () => {
      expect(promtool, 'promtool must be in .cache/tools or on the PATH').toBeDefined();
      const metrics = await busy();
      for (const page of [await metrics.text(), await metrics.text('push'), await metrics.text('mail')]) {
        expect(
          execFileSync(promtool ?? '', ['check', 'metrics'], {
            input: page,
            stdio: ['pipe', 'pipe', 'pipe'],
          }).toString(),
        ).toBe('');
      }
    },
  );

  test('shows each service its own metrics under their names', async () => {
    const page = await (await busy()).text('push');
    expect(page).toContain('push_messages_published_total{topic="a\\"b\\\\c\\nd"} 0\n');
    expect(page).toContain('push_messages_published_total{topic="ä"} 2\n');
    expect(page).toContain(
      '# HELP push_subscribers Open streams.\\nSecond line with \\\\.\n# TYPE push_subscribers gauge\npush_subscribers 3\n',
    );
    expect(page).toContain('push_publish_seconds_bucket{le="+Inf",kind="json"} 1\n');
    expect(page).toContain('http_requests_total{service="push",method="other",code="405"} 1\n');
    expect(page).not.toContain('mail');
    expect(page).not.toContain('process_');
  });

  test('merges one family of two services with the label service', async () => {
    const page = await (await busy()).text();
    expect(page.match(/# TYPE jobs_waiting gauge/g)).toHaveLength(1);
    expect(page).toContain('jobs_waiting{service="push"} 1\njobs_waiting{service="mail"} 1\n');
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'nodejs_eventloop_lag_seconds',
    ]) {
      expect(page).toMatch(new RegExp(`^${name} [0-9.e-]+$`, 'm'));
    }
    expect(page).toContain('homeport_info{version="1.2.3"} 1\n');
    expect(page).toContain('host_services{state="up"} 9\n');
  });

  test('is empty for an unknown service', async () => {
    expect(await open().text('nobody')).toBe('');
  });
});

describe('declaration', () => {
  const broken: ['counter' | 'gauge' | 'histogram', string, string][] = [
    ['counter', 'push_messages', 'a counter without _total'],
    ['gauge', 'push_messages_total', 'a gauge with _total'],
    ['gauge', 'push_messages_count', 'a suffix of histograms'],
    ['gauge', 'pushMessages', 'camel case'],
    ['gauge', 'push:messages', 'a colon'],
    ['gauge', 'push_delay_milliseconds', 'a unit that is no base unit'],
    ['gauge', 'push_delay_ms', 'an abbreviated unit'],
    ['gauge', 'cert_days_remaining', 'days'],
    ['gauge', 'push_gauge', 'its type in its name'],
    ['histogram', 'http_request_seconds', 'a name of the host'],
  ];
  test.each(broken)('rejects a %s %s: %s', (kind, name) => {
    expect(() => open().forService('push')[kind]({ name, help: 'x' })).toThrow(name);
  });

  test('validates labels and help', () => {
    const push = open().forService('push');
    expect(() => push.gauge({ name: 'push_x', help: ' ' })).toThrow('help');
    for (const label of ['le', 'quantile', 'service', 'topicName']) {
      expect(() => push.gauge({ name: 'push_x', help: 'x', labels: [label] })).toThrow(label);
    }
  });

  test('rejects one name with two types and names both', () => {
    const metrics = open();
    metrics.forService('push').gauge({ name: 'queue', help: 'x' });
    expect(() => metrics.forService('mail').histogram({ name: 'queue', help: 'x' })).toThrow(
      /queue is a gauge of push/,
    );
  });

  test('continues counting after a restart', async () => {
    const metrics = open();
    const declare = (): void => metrics.forService('push').counter({ name: 'push_total', help: 'x' }).inc();
    declare();
    declare();
    expect(await metrics.text('push')).toContain('push_total 2\n');
  });

  test('starts again with other labels', async () => {
    const metrics = open();
    metrics.forService('push').counter({ name: 'push_total', help: 'x' }).inc();
    metrics
      .forService('push')
      .counter({ name: 'push_total', help: 'x', labels: ['kind'] })
      .inc({ kind: 'a' });
    expect(await metrics.text('push')).toContain('push_total{kind="a"} 1\n');
  });
});

describe('collected gauge', () => {
  test('is omitted and logged when it fails', async () => {
    const log = quietLog();
    const metrics = createMetrics({ version: '1', log });
    const push = metrics.forService('push');
    push.gauge({ name: 'push_broken', help: 'x', collect: () => Promise.reject(new Error('database is closed')) });
    push.gauge({ name: 'push_fine', help: 'x', collect: () => 1 });
    const page = await metrics.text();
    expect(page).toContain('push_fine{service="push"} 1\n');
    expect(page).not.toContain('push_broken');
    expect(log.recent({ text: 'database is closed' })).toHaveLength(1);
  });

  test('is not called after its service stopped', async () => {
    const metrics = open();
    let collectCount = 0;
    metrics.forService('push').gauge({ name: 'push_x', help: 'x', collect: () => (collectCount += 1) });
    metrics.release('push');
    expect(await metrics.text('push')).not.toContain('push_x');
    expect(collectCount).toBe(0);
  });
});
