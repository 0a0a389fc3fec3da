import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lacksProgram } from '../support/requirements.ts';
import { toolPath } from '../support/tools.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

const promtool = toolPath('promtool');

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
  await fetch(`${host.url('notify')}/notify/aggregator`, { method: 'POST', body: new URLSearchParams({ body: 'x' }) });
});
afterAll(() => host[Symbol.asyncDispose]());

/** Checks Homeport's metric names with promtool. The names of the peers are fixed, since users scrape them. */
function findProblems(page: string): string {
  // The specification of git hosting calls four gauges so.
  const peerMetrics = /^(# (HELP|TYPE) )?(ntfy_|gitea_|githost_(repositories|users|issues|pulls)_total).*\n/gm;
  const text = page.replaceAll(peerMetrics, '');
  const { stdout, stderr, status } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  return `${stdout}${stderr}${status === 0 ? '' : `exit ${status}`}`;
}

it.skipIf(lacksProgram(promtool))(
  'serves the combined metrics page to permitted callers in a form that promtool accepts',
  async () => {
    const page = `${host.url('control')}/metrics`;
    expect((await fetch(page)).status).toBe(401);
    const text = await (await fetch(page, { headers: { Authorization: adminAuthorization } })).text();
    for (const name of [
      'push_messages_published_total',
      'aggregator_notifications_sent_total',
      'gateway_emails_processed_total',
      'homeport_info',
      'http_requests_total',
    ]) {
      expect(text).toContain(`\n${name}`);
    }
    expect(findProblems(text)).toBe('');
  },
);

it.skipIf(lacksProgram(promtool)).each(['push', 'notify', 'downloads', 'addons'])(
  'serves the metrics of %s at the path of the original program',
  async (service) => {
    const reply = await fetch(`${host.url(service)}/metrics`);
    expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await reply.text();
    expect(text).toMatch(new RegExp(`^(${service}|aggregator)_`, 'm'));
    expect(findProblems(text)).toBe('');
  },
);
