import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, requireEngines, type Rig } from './rig.ts';

await requireEngines();

/** Serves the video of the fixture site with other subtitles. */
async function openSiteWithSubtitles(rig: Rig, subtitles: { readonly status: number; readonly text: string }) {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url?.includes('.vtt') === true) return void response.writeHead(subtitles.status).end(subtitles.text);
      const { range } = request.headers;
      const reply = await fetch(rig.site.url(request.url ?? '/'), range === undefined ? {} : { headers: { range } });
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await reply.arrayBuffer()));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: (path: string): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}${path}`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe.each([
  ['embedded', { SUBTITLES: 'en', SUBTITLE_EMBED: 'true' }],
  ['separate', { SUBTITLES: 'en' }],
])('a video whose %s subtitles fail', (_what, environment) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({ environment });
  });
  afterAll(async () => await rig[Symbol.asyncDispose]());

  it.each([
    ['too many requests', { status: 429, text: 'slow down' }, 'mp4'],
    ['no file', { status: 404, text: 'not found' }, 'mkv'],
    ['an invalid file', { status: 200, text: '<html>sign in</html>' }, 'mp4'],
    ['an empty file', { status: 200, text: '' }, 'mkv'],
  ])('is finished without them: %s', async (what, subtitles, format) => {
    await using site = await openSiteWithSubtitles(rig, subtitles);
    const address = site.url(`/short/master.m3u8?${encodeURIComponent(what)}`);
    const record = await rig.client.ended(await rig.client.add(address, { quality: '360', format }));
    expect([record.status, record.error]).toEqual(['finished', null]);
    expect(existsSync(rig.file(record.filename ?? ''))).toBe(true);
  });
});
