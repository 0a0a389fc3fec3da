import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { toolPath } from '../../support/tools.ts';
import { lacksProgram } from '../../support/requirements.ts';
import { openUptime } from './rig.ts';

const resolveFile = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const promtool = toolPath('promtool');
const missing = lacksProgram(promtool);
const rules = resolveFile('assets/uptime/prometheus-alerts.yaml');

/** Runs promtool and returns its status and output. */
function sendRequest(...args: string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

it.skipIf(missing)('passes promtool, with alerts for monitors that are down, slow or about to expire', () => {
  expect(sendRequest('check', 'rules', rules)).toMatchObject({
    status: 0,
    output: expect.stringContaining('5 rules found'),
  });
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  const labels = 'monitor_id="1",monitor_name="web"';
  const alert = (alertname: string, severity: string, summary: string) => ({
    ...{ eval_time: '90m', alertname },
    exp_alerts: [
      {
        exp_labels: {
          severity,
          monitor_id: '1',
          monitor_name: 'web',
          ...(alertname === 'UptimeBelowTarget' ? { window: '30d' } : {}),
        },
        exp_annotations: { summary },
      },
    ],
  });
  const file = join(folder, 'test.yaml');
  try {
    const series = (name: string, value: string) => ({ series: name, values: `${value}+0x100` });
    const test = {
      rule_files: [rules],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [
            series(`monitor_status{${labels}}`, '0'),
            series(`monitor_status{monitor_id="2",monitor_name="fine"}`, '1'),
            series(`monitor_response_time{${labels}}`, '900'),
            series(`monitor_response_time_seconds{${labels},window="30d"}`, '0.1'),
            series(`monitor_cert_days_remaining{${labels}}`, '5'),
            series(`monitor_uptime_ratio{${labels},window="30d"}`, '0.95'),
            series('uptime_monitors_up', '1'),
          ],
          alert_rule_test: [
            alert('MonitorDown', 'critical', 'web is down'),
            alert('MonitorSlow', 'warning', 'web takes 9 times as long as usual'),
            alert('CertificateEnds', 'warning', 'The certificate of web ends in 5 days'),
            alert('UptimeBelowTarget', 'warning', 'web was up 95% of 30 days'),
            { eval_time: '90m', alertname: 'UptimeSilent', exp_alerts: [] },
          ],
        },
      ],
    };
    writeFileSync(file, JSON.stringify(test));
    expect(sendRequest('test', 'rules', file)).toMatchObject({ status: 0 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('exports every series of the dashboard and alert rules', async () => {
  await using rig = await openUptime();
  const { id } = await rig.add({ type: 'manual', name: 'x', manual_status: 1, interval: 3600 });
  await rig.until(id, 1);
  const page = await (await rig.raw('GET', '/metrics')).text();
  const metricNames = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  // Present only for monitors with a certificate.
  metricNames.add('monitor_cert_days_remaining');
  const read = readFileSync(resolveFile('assets/uptime/grafana-dashboard.json'), 'utf8') + readFileSync(rules, 'utf8');
  const used = new Set([...read.matchAll(/\b(?:monitor|uptime)_[a-z_]+/g)].map(([name]) => name));
  const labelNames = ['monitor_name', 'monitor_id'];
  expect([...used].filter((name) => !metricNames.has(name) && !labelNames.includes(name))).toEqual([]);
  expect(used.size).toBeGreaterThan(6);
});
