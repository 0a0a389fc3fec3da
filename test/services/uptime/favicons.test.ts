import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openTarget, openUptime, type Target, type UptimeRig } from './rig.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const dataUrl = `data:image/png;base64,${png.toString('base64')}`;

let rig: UptimeRig;
let site: Target;
beforeEach(async () => {
  rig = await openUptime();
  site = await openTarget();
});
afterEach(async () => {
  await site[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

/** Serves these paths, and 404 for others. */
function serve(files: Readonly<Record<string, string | Buffer>>): void {
  site.handler = (request, response) => {
    const content = files[request.url ?? ''];
    response.writeHead(content === undefined ? 404 : 200).end(content);
  };
}
const listRequests = (): readonly string[] =>
  site.requests.map(({ url }) => url ?? '').filter((url) => url !== '/check');
const addMonitor = async (url = `${site.url}/check`): Promise<number> =>
  (await rig.add({ type: 'http', name: 'site', url, interval: 3600, active: false })).id;
const read = (...ids: number[]): Promise<Record<string, string>> =>
  rig.call('GET', `/api/favicons?ids=${ids.join(',')}`);

it('returns the icon that the page links, requests it once and stores it', async () => {
  serve({ '/': '<html><link rel="shortcut icon" href="/assets/icon.png">', '/assets/icon.png': png });
  const [first, second] = [await addMonitor(), await addMonitor(`${site.url}/other`)];
  expect(await read(first, second)).toEqual({ [first]: dataUrl, [second]: dataUrl });
  expect(await read(first)).toEqual({ [first]: dataUrl });
  expect(listRequests()).toEqual(['/', '/assets/icon.png']);
  expect(readdirSync(join(rig.host.dataDir, 'uptime', 'favicons'))).toHaveLength(1);
});

it('falls back to the usual address, and remembers that a site has no icon', async () => {
  serve({ '/favicon.ico': png });
  const id = await addMonitor();
  expect(await read(id)).toEqual({ [id]: dataUrl });
  await using other = await openTarget((_request, response) => void response.writeHead(404).end());
  const missing = await addMonitor(`${other.url}/x`);
  expect(await read(missing)).toEqual({});
  const requestCount = other.requests.length;
  expect(await read(missing)).toEqual({});
  expect(other.requests).toHaveLength(requestCount);
});

it('ignores icons of other hosts, markup, large files and Homeport itself', async () => {
  await using foreign = await openTarget((_request, response) => void response.end(png));
  const links = [`<link rel=icon href="${foreign.url}/icon.png">`, '<link rel="icon" href="/icon.svg">'].join('');
  serve({ '/': links, '/icon.svg': '<svg/>', '/favicon.ico': Buffer.concat([png, Buffer.alloc(64 * 1024)]) });
  const id = await addMonitor();
  const own = await addMonitor(rig.host.url('control'));
  expect(await read(id, own)).toEqual({});
  expect(foreign.requests).toEqual([]);
  expect(listRequests()).toEqual(['/', '/favicon.ico']);
});

it('requests nothing from a site that is monitored through a proxy', async () => {
  serve({ '/favicon.ico': png });
  const proxy = { protocol: 'http', host: '127.0.0.1', port: 1 };
  const { id: proxyId } = await rig.call<{ id: number }>('POST', '/api/proxies', proxy);
  const fields = { type: 'http', name: 'site', url: `${site.url}/check`, interval: 3600, active: false };
  const { id } = await rig.add({ ...fields, proxyId });
  expect(await read(id)).toEqual({});
  expect(listRequests()).toEqual([]);
  await rig.call('PUT', `/api/proxies/${String(proxyId)}`, { ...proxy, active: false });
  expect(await read(id)).toEqual({ [id]: dataUrl });
});

it('requests nothing when the setting is off', async () => {
  serve({ '/favicon.ico': png });
  const id = await addMonitor();
  const { status } = await fetch(`${rig.host.url('control')}/api/settings/uptime`, {
    method: 'PATCH',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify({ favicons: false }),
  });
  expect(status).toBe(200);
  expect(await read(id)).toEqual({});
  expect(listRequests()).toEqual([]);
});
