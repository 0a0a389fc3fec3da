import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({
    environment: { CORS_ALLOWED_ORIGINS: 'chrome-extension://*,moz-extension://*,https://video.example' },
  });
});
afterAll(async () => await rig[Symbol.asyncDispose]());

const page = 'https://video.example';

/** Routes that accept requests with a body from pages. */
const routes = [
  ...['add', 'cancel-add', 'retry', 'start', 'delete', 'pause', 'resume', 'reorder'],
  ...['subscribe', 'subscriptions', 'subscriptions/update', 'subscriptions/delete', 'subscriptions/check'],
  ...['upload-cookies', 'delete-cookies', 'cookie-status', 'history', 'version', 'downloads', 'status'],
];

describe.each(routes.map((route) => [route]))('a preflight for /%s', (route) => {
  const sendRequest = async (origin: string): Promise<Response> =>
    await fetch(`${rig.client.base}/${route}`, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type',
      },
    });

  it.each([['chrome-extension://abcdefghijklmnop'], ['moz-extension://0f3c'], [page]])('accepts %s', async (origin) => {
    const reply = await sendRequest(origin);
    expect([reply.status, await reply.json()]).toEqual([200, { status: 'ok' }]);
    expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
    expect(reply.headers.get('access-control-allow-headers')).toContain('Content-Type');
    expect(reply.headers.get('access-control-allow-methods')).toContain('POST');
    // The documented bookmarklet of MeTube sends credentials; extensions are allowed by a pattern.
    expect(reply.headers.get('access-control-allow-credentials')).toBe(origin === page ? 'true' : null);
  });

  it('refuses other pages', async () => {
    expect((await sendRequest('https://strange.example')).headers.get('access-control-allow-origin')).toBeNull();
    expect((await sendRequest('null')).headers.get('access-control-allow-origin')).toBeNull();
  });
});

/** Exact requests of each client. */
const requests: readonly (readonly [
  client: string,
  headers: Readonly<Record<string, string>>,
  body: (url: string) => object,
  record: object,
])[] = [
  [
    'the Chrome extension',
    {
      Origin: 'chrome-extension://abcdefghijklmnop',
      Accept: 'application/json',
      'Content-Type': 'application/json',
    },
    (url) => ({
      quality: 'best',
      format: 'mp4',
      url,
      auto_start: false,
      folder: 'video.example',
      custom_name_prefix: 'video.example',
    }),
    { quality: 'best', format: 'mp4', folder: 'video.example', custom_name_prefix: 'video.example' },
  ],
  [
    'the Firefox add-on',
    { Origin: 'moz-extension://0f3c', 'Content-Type': 'application/json', 'X-Own-Header': 'set by its user' },
    (url) => ({
      url,
      download_type: 'video',
      codec: 'h264',
      quality: '1080',
      format: 'mp4',
      folder: '',
      custom_name_prefix: '',
      auto_start: false,
      playlist_strict_mode: true,
    }),
    { download_type: 'video', codec: 'h264', quality: '1080', format: 'mp4', folder: null },
  ],
  [
    'the Firefox add-on, for captions',
    { Origin: 'moz-extension://0f3c', 'Content-Type': 'application/json' },
    (url) => ({
      url,
      download_type: 'captions',
      codec: 'auto',
      quality: 'best',
      format: 'srt',
      folder: '',
      custom_name_prefix: '',
      auto_start: false,
      playlist_strict_mode: false,
      subtitle_language: 'en',
      subtitle_mode: 'prefer_manual',
    }),
    { download_type: 'captions', format: 'srt' },
  ],
  [
    'a bookmarklet',
    { Origin: page, 'Content-Type': 'application/json' },
    (url) => ({ quality: 'best', url, auto_start: false }),
    { download_type: 'video', quality: 'best' },
  ],
  [
    'a bookmarklet that spares the preflight',
    { Origin: page, 'Content-Type': 'text/plain;charset=UTF-8' },
    (url) => ({ quality: 'best', url, auto_start: false }),
    { download_type: 'video', quality: 'best' },
  ],
  [
    'the iOS shortcut',
    { 'Content-Type': 'application/json', 'User-Agent': 'BackgroundShortcutRunner/2605 CFNetwork/1498 Darwin/23.6.0' },
    (url) => ({ url, quality: 'best_ios', format: 'any', auto_start: false }),
    { download_type: 'video', format: 'ios', quality: 'best' },
  ],
  [
    'the Raycast extension',
    { 'Content-Type': 'application/json' },
    (url) => ({ url, quality: 'audio', format: 'any', auto_start: false }),
    { download_type: 'audio', format: 'm4a', quality: 'best' },
  ],
];

describe('requests of clients', () => {
  it.each(requests)('accepts the request of %s', async (client, headers, body, record) => {
    const url = `${rig.site.address}/single.mp4?${encodeURIComponent(client)}`;
    const reply = await fetch(`${rig.client.base}/add`, { method: 'POST', headers, body: JSON.stringify(body(url)) });
    expect([reply.status, await reply.json()]).toEqual([200, expect.objectContaining({ status: 'ok' })]);
    const origin = headers['Origin'];
    if (origin !== undefined) expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
    const { pending } = await rig.client.history();
    expect(pending.find((entry) => entry.url === url)).toMatchObject({ ...record, status: 'pending' });
  });

  it('starts downloads at night that a scheduler added by day', async () => {
    const urls = (await rig.client.history()).pending.map(({ url }) => url);
    expect(await rig.client.post('/start', { ids: urls.slice(0, 1) })).toMatchObject({ status: 'ok' });
    const { pending } = await rig.client.history();
    expect(pending.map(({ url }) => url)).toEqual(urls.slice(1));
  });

  it('refuses to add downloads for a page of another origin', async () => {
    const reply = await fetch(`${rig.client.base}/add`, {
      method: 'POST',
      headers: { Origin: 'https://strange.example', 'Content-Type': 'text/plain' },
      body: JSON.stringify({ url: `${rig.site.address}/single.mp4`, quality: 'best' }),
    });
    expect(reply.status).toBe(403);
  });
});
