import * as problems from '#messages/uptime-problems';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { lacksProgram } from '../../support/requirements.ts';
import { toolPath } from '../../support/tools.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTarget, openUptime, type Target, type UptimeRig } from './rig.ts';
import { statusScript } from '../../../services/uptime/wire/status-page/status-script.ts';

interface Golden {
  readonly request: { readonly method: string; readonly path: string };
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown };
}

const promtoolFile = toolPath('promtool');

let rig: UptimeRig;
let web: Target;
/** Maps IDs of the recorded server to those of the same monitors here. */
const ids = new Map<string, number>();

beforeAll(async () => {
  rig = await openUptime();
  web = await openTarget((request, response) => void response.writeHead(request.url === '/down' ? 500 : 200).end('x'));
  const common = { type: 'http', interval: 3600 };
  const up = await rig.add({ ...common, name: 'web up', url: `${web.url}/up` });
  const down = await rig.add({ ...common, name: 'web down', url: `${web.url}/down` });
  const job = await rig.add({ type: 'push', name: 'job push', pushToken: 'job', interval: 3600 });
  const hidden = await rig.add({ ...common, name: 'private', url: `${web.url}/up` });
  for (const [recorded, { id }] of [
    ['6', up],
    ['7', down],
    ['8', job],
    ['9', hidden],
  ] as const)
    ids.set(recorded, id);
  await Promise.all([rig.until(up.id, 1), rig.until(down.id, 0), rig.until(hidden.id, 1)]);
  await fetch(`${rig.url}/api/push/job`);
  await rig.call('POST', '/api/status-pages', { slug: 'heldout-27948', title: 'Held Out' });
  await rig.call('PUT', '/api/status-pages/heldout-27948', {
    ...{ description: 'All our services', showTags: true, customCSS: '', footerText: '', showPoweredBy: false },
    showCertificateExpiry: true,
    publicGroupList: [
      { name: 'Group One', monitorList: [{ id: up.id }, { id: down.id, sendUrl: true }, { id: job.id }] },
    ],
  });
  await rig.call('POST', '/api/status-pages/heldout-27948/incidents', {
    ...{ title: 'Disk trouble', content: 'We **look** into it', style: 'warning' },
  });
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await web[Symbol.asyncDispose]();
});

function golden(name: string): Golden {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8')) as Golden;
}

/** Returns the visible parts of an image, because releases of the badge library format SVG differently. */
function seen(body: unknown): unknown {
  if (typeof body !== 'string' || !body.startsWith('<svg')) return body;
  return {
    size: /width="\d+" height="\d+" role="img" aria-label="[^"]*"/.exec(body)?.[0],
    title: /<title>(.*?)<\/title>/.exec(body)?.[1],
    boxes: [...body.matchAll(/<rect (?:x="\d+" )?width="\d+" height="20" fill="#\w+"/g)].map(([box]) => box),
    words: [
      ...new Set([...body.matchAll(/textLength="(\d+)"[^>]*>(.*?)<\/text>/g)].map(([, ...parts]) => parts.join(' '))),
    ],
  };
}

async function replay(name: string) {
  const { request, response } = golden(name);
  const path = request.path.replace(
    /^\/api\/badge\/(\d+)/,
    (match, id: string) => `/api/badge/${String(ids.get(id) ?? id)}`,
  );
  const reply = await fetch(rig.url + path, { method: request.method, redirect: 'manual' });
  const text = await reply.text();
  const type = reply.headers.get('content-type') ?? '';
  return { expected: response, reply, text, body: type.includes('json') ? (JSON.parse(text) as unknown) : text };
}

describe('recorded responses of Uptime Kuma', () => {
  it.each([
    ...['badge-status-up', 'badge-status-down', 'badge-status-missing', 'badge-status-private', 'badge-status-text-id'],
    ...['badge-status-custom', 'badge-uptime', 'badge-uptime-720', 'badge-uptime-30d', 'badge-uptime-bad-duration'],
    ...['badge-cert-exp', 'badge-response', 'status-page-badge', 'status-page-badge-missing'],
    ...['status-page-missing', 'status-page-manifest', 'status-page-manifest-missing', 'status-page-heartbeat-missing'],
    ...['incident-history-missing', 'push-unknown-token', 'robots'],
  ])('contains all fields of the recorded response %s', async (name) => {
    const { expected, reply, body } = await replay(name);
    expect(reply.status).toBe(expected.status);
    expect(seen(body)).toEqual(seen(expected.body));
    expect(reply.headers.get('content-type')).toBe(expected.headers['content-type']);
    expect(reply.headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(reply.headers.get('x-powered-by')).toBeNull();
  });

  it.each(['status-page', 'status-page-upper'])('contains all fields of the recorded response %s', async (name) => {
    const { expected, body } = await replay(name);
    const recorded = expected.body as {
      config: object;
      incidents: object[];
      publicGroupList: { monitorList: object[] }[];
    };
    const page = body as typeof recorded;
    expect(page.config).toEqual(recorded.config);
    const date = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string;
    expect(page.incidents).toEqual([{ ...recorded.incidents[0], createdDate: date }]);
    const first = { ...recorded.publicGroupList[0]?.monitorList[0], id: ids.get('6') };
    expect(page.publicGroupList[0]?.monitorList[0]).toEqual(first);
    expect(page.publicGroupList[0]?.monitorList[1]).toMatchObject({ sendUrl: 1, url: `${web.url}/down` });
    expect(page.publicGroupList[0]?.monitorList).toHaveLength(3);
  });

  it('lists public heartbeats oldest first without messages', async () => {
    const { body } = await replay('status-page-heartbeat');
    const { heartbeatList, uptimeList } = body as {
      heartbeatList: Record<string, { status: number; time: string; msg: string }[]>;
      uptimeList: Record<string, number>;
    };
    const down = heartbeatList[String(ids.get('7'))];
    expect(down).toEqual([
      { status: 0, time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/), msg: '', ping: null },
    ]);
    expect(uptimeList).toMatchObject({ [`${String(ids.get('6'))}_24`]: 1, [`${String(ids.get('7'))}_24`]: 0 });
    expect(heartbeatList[String(ids.get('9'))]).toBeUndefined();
  });
});

it('escapes text in feeds and pages', async () => {
  await rig.call('POST', '/api/status-pages/heldout-27948/incidents', {
    ...{ title: '<script>alert(1)</script>]]>', content: '[x](javascript:alert(1)) <img src=x onerror=alert(1)>' },
  });
  await rig.call('PUT', '/api/status-pages/heldout-27948', { customCSS: '</style><script>alert(1)</script>' });
  const rss = await (await fetch(`${rig.url}/status/heldout-27948/rss`)).text();
  expect(rss).toContain('<description>Current status: Partially Degraded Service</description>');
  expect(rss).toContain('<![CDATA[web down is down]]>');
  expect(rss).toContain('<![CDATA[<script>alert(1)</script>]]]]><![CDATA[>]]>');
  const page = await fetch(`${rig.url}/status/heldout-27948`);
  const html = await page.text();
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('vary')).toContain('Accept-Language');
  expect(html).toContain('<title>Held Out</title>');
  expect(html).toContain('web down');
  // The page has one script, which its policy names by hash.
  const foreign = html.replace(`<script>${statusScript}</script>`, '');
  expect(foreign).not.toBe(html);
  expect(foreign).not.toMatch(/<script|<img|href="javascript:/i);
  const missing = await fetch(`${rig.url}/status/nosuch`);
  expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
});

it('escapes text in badges', async () => {
  const query = 'label=%3Cscript%3E&upLabel=%22%3E%3Csvg%20onload%3D1%3E&upColor=%22onload%3D%221';
  const svg = await (await fetch(`${rig.url}/api/badge/${String(ids.get('6'))}/status?${query}`)).text();
  expect(svg).not.toMatch(/<script|<svg onload|"onload/);
});

describe('/metrics', () => {
  it('requires an account or an API key', async () => {
    const none = await fetch(`${rig.url}/metrics`);
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Basic')]);
    const { key } = await rig.call<{ key: string }>('POST', '/api/api-keys', { name: 'prometheus' });
    expect(key).toMatch(/^uk\d+_[A-Za-z0-9]{40}$/);
    const basic = `Basic ${Buffer.from(`any:${key}`).toString('base64')}`;
    for (const authorization of [basic, `Bearer ${key}`]) {
      expect((await fetch(`${rig.url}/metrics`, { headers: { authorization } })).status).toBe(200);
    }
    const wrong = `Bearer ${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    expect((await fetch(`${rig.url}/metrics`, { headers: { authorization: wrong } })).status).toBe(401);
  });

  it.skipIf(lacksProgram(promtoolFile))('serves the series of Uptime Kuma without removed monitors', async () => {
    const unusualMonitor = await rig.add({
      type: 'http',
      name: 'say "hi"\\\nnow',
      url: 'http://u:secret@127.0.0.1:1/',
      interval: 3600,
    });
    await rig.until(unusualMonitor.id, 0);
    const text = await (await rig.raw('GET', '/metrics')).text();
    expect(text).toContain(
      `monitor_status{monitor_id="${String(ids.get('6'))}",monitor_name="web up",monitor_type="http",` +
        `monitor_url="${web.url}/up",monitor_hostname="null",monitor_port="null"} 1\n`,
    );
    expect(text).toMatch(/^uptime_monitors_up \d+$/m);
    expect(text).toContain('monitor_name="say \\"hi\\"\\\\\\nnow"');
    expect(text).not.toContain('secret');
    expect(await promtool(text)).toEqual({ code: 0, output: '' });
    await rig.call('DELETE', `/api/monitors/${String(unusualMonitor.id)}`);
    expect(await (await rig.raw('GET', '/metrics')).text()).not.toContain('say ');
  });
});

/** Returns the output of `promtool check metrics`. */
function promtool(text: string): Promise<{ readonly code: unknown; readonly output: string }> {
  return new Promise((resolve) => {
    const child = execFile(promtoolFile, ['check', 'metrics'], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
    child.stdin?.end(text);
  });
}

it('serves an OpenAPI document and readable errors', async () => {
  const document = await rig.call<{ paths: Record<string, Record<string, unknown>> }>('GET', '/openapi.json');
  expect(Object.keys(document.paths['/api/monitors'] ?? {}).toSorted()).toEqual(['get', 'post']);
  expect(document.paths['/api/monitors/{id}']).toHaveProperty('patch');
  expect((await fetch(`${rig.url}/api/monitors`)).status).toBe(401);
  const bad = await rig.raw('POST', '/api/monitors', { type: 'http', name: 'x', url: 'http://x', interval: 'often' });
  expect(bad.status).toBe(400);
  expect(await bad.json()).toMatchObject({ ok: false, issues: [{ path: ['interval'] }] });
  const incompleteMonitor = await rig.raw('POST', '/api/monitors', { type: 'port', name: 'x' });
  expect(await incompleteMonitor.json()).toMatchObject({
    ok: false,
    issues: [{ path: ['hostname'] }, { path: ['port'] }],
  });
  const monitor = await rig.add({
    type: 'steam',
    name: 'game',
    game: 'tf2',
    gamedigGivenPortOnly: false,
    interval: 3600,
  });
  expect(monitor).toMatchObject({ type: 'steam', game: 'tf2', gamedigGivenPortOnly: false });
  expect(await rig.until(monitor.id, 0)).toMatchObject({ msg: 'Unknown Monitor Type' });
  const strict = await rig.raw('POST', '/api/monitors?strict=1', { type: 'group', name: 'x', colour: 'red' });
  expect(strict.status).toBe(400);
  const bulk = await rig.call<{ items: object[] }>('POST', '/api/monitors/bulk', {
    items: [
      { type: 'group', name: 'a' },
      { type: 'http', name: 'b' },
      { type: 'group', name: 'c' },
    ],
  });
  expect(bulk.items).toEqual([
    { id: expect.any(Number) },
    { error: problems.fieldProblem({ field: 'url', problem: problems.fieldMissing() }) },
    { id: expect.any(Number) },
  ]);
  const secret = await rig.add({ type: 'http', name: 's', url: web.url, basic_auth_pass: 'hush', interval: 3600 });
  expect(JSON.stringify(secret)).not.toContain('hush');
  expect(secret.secrets).toEqual(['basic_auth_pass']);
});
