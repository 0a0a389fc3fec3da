import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, stat, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, streams, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(async () => await rig[Symbol.asyncDispose]());

describe('a download', () => {
  it('creates a playable file that matches its record', async () => {
    const uid = await rig.client.add(rig.site.url('/single.mp4?plain'));
    const record = await rig.client.ended(uid);
    expect(record).toMatchObject({ status: 'finished', title: 'single', percent: 100, error: null });
    const path = rig.file(record.filename ?? '');
    expect(await streams(path)).toEqual(['h264/360', 'aac']);
    expect(record.size).toBe((await stat(path)).size);
    expect(existsSync(`${rig.host.dataDir}/downloads/temp/${uid}`)).toBe(false);
  });

  it.each([
    ['/p/ladder', { quality: '720p', format: 'mp4' }, ['h264/720', 'aac']],
    ['/p/hls', { quality: '1080', format: 'mp4' }, ['h264/1080', 'aac']],
    ['/p/hls', { quality: 'worst', format: 'any' }, ['h264/360', 'aac']],
    ['/p/html5', { quality: 'best', format: 'ogg' }, ['vorbis']],
  ])('downloads %s as %j with the streams %j', async (path, options, expected) => {
    const uid = await rig.client.add(rig.site.url(path), options);
    const record = await rig.client.ended(uid);
    expect(record.error).toBeNull();
    expect(await streams(rig.file(record.filename ?? ''))).toEqual(expected);
  });

  it('never overwrites another file', async () => {
    const urls = ['a', 'b', 'c'].map((tag) => rig.site.url(`/p/og?title=Same&${tag}`));
    const uids = await Promise.all(urls.map(async (url) => await rig.client.add(url)));
    const names = await Promise.all(uids.map(async (uid) => (await rig.client.ended(uid)).filename));
    expect(names.toSorted()).toEqual(['Same (2).mp4', 'Same (3).mp4', 'Same.mp4']);
  });

  it.each(['evil', 'cjk', 'quotes'])('stores a file with the title of /p/%s inside of the folder', async (page) => {
    const uid = await rig.client.add(rig.site.url(`/p/${page}`));
    const { status, filename = '' } = await rig.client.ended(uid);
    expect(status).toBe('finished');
    expect(filename).not.toContain('/');
    expect(await readdir(rig.file(''))).toContain(filename);
  });

  it('is stored in the requested folder with the prefix, within the download folder', async () => {
    const options = { folder: 'clips/new', custom_name_prefix: '../../up' };
    const record = await rig.client.ended(await rig.client.add(rig.site.url('/single.mp4?prefix'), options));
    expect(record).toMatchObject({ filename: '_..⧸..⧸up.single.mp4', title: '../../up.single' });
    expect(await readdir(rig.file('clips/new'))).toEqual(['_..⧸..⧸up.single.mp4']);
  });

  it('is refused for a folder outside, by its name or by a link', async () => {
    const url = rig.site.url('/single.mp4?outside');
    for (const folder of ['../x', '/etc', '~/x']) {
      expect(await rig.client.post('/add', { url, quality: 'best', folder })).toMatchObject({ status: 'error' });
    }
    await symlink('/tmp', rig.file('link'));
    const record = await rig.client.ended(await rig.client.add(url, { folder: 'link/deep' }));
    expect(record.error).toContain('outside the download folder');
    expect(existsSync('/tmp/deep')).toBe(false);
  });

  it('replaces a feed by its entries in a folder, with their titles', async () => {
    const response = await rig.client.post('/add', {
      url: rig.site.url('/feed/3.rss?title=My%20Feed'),
      quality: 'best',
    });
    expect(response.uids).toHaveLength(3);
    const records = await Promise.all((response.uids ?? []).map(async (uid) => await rig.client.ended(uid)));
    expect(records.map(({ filename }) => filename)).toEqual(
      ['001', '002', '003'].map((number) => `My Feed/Episode ${number}.mp4`),
    );
  });

  it('downloads each video of a page with several videos', async () => {
    const response = await rig.client.post('/add', {
      url: rig.site.url('/p/multi'),
      quality: 'best',
      playlist_item_limit: 2,
    });
    const records = await Promise.all((response.uids ?? []).map(async (uid) => await rig.client.ended(uid)));
    expect(records.map(({ status, filename }) => [status, filename])).toEqual([
      ['finished', 'Three clips/single.mp4'],
      ['finished', 'Three clips/vp9.mp4'],
    ]);
  });
});

describe('finished files', () => {
  it('serves finished files with ranges, and no other files', async () => {
    const uid = await rig.client.add(rig.site.url('/p/og?title=Hash%20%23%20%25&served'));
    const { filename = '', size } = await rig.client.ended(uid);
    const address = `${rig.client.base}/download/${encodeURIComponent(filename)}`;
    const part = await fetch(address, { headers: { Range: 'bytes=4-7' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      `bytes 4-7/${size}`,
      'ftyp',
    ]);
    expect((await fetch(address)).headers.get('content-type')).toBe('video/mp4');
    for (const path of ['..%2f..%2fetc%2fpasswd', '%2e%2e/vault.key', '.hidden', 'link/passwd', '%00', '%zz']) {
      expect([path, (await fetch(`${rig.client.base}/download/${path}`)).status]).toEqual([path, 404]);
    }
  });
});

describe('an address with a login', () => {
  it('is downloaded with its login, which is never shown', async () => {
    const locked = createServer((request, response) => {
      const isAuthorized = request.headers.authorization === `Basic ${Buffer.from('ada:s3cretpw').toString('base64')}`;
      if (request.url === '/page') response.setHeader('content-type', 'text/html').end('<p>No video here.</p>');
      else response.writeHead(isAuthorized ? 302 : 401, { location: rig.site.url('/p/og?title=Locked') }).end();
    }).listen(0, '127.0.0.1');
    await once(locked, 'listening');
    const address = `127.0.0.1:${(locked.address() as AddressInfo).port}/video`;
    const uid = await rig.client.add(`http://ada:s3cretpw@${address}`);
    const record = await rig.client.ended(uid);
    expect(record).toMatchObject({ status: 'finished', url: `http://${address}` });
    const page = await rig.client.add(`http://ada:s3cretpw@${address.replace('video', 'page')}`);
    expect((await rig.client.ended(page)).error).toContain('Unsupported URL');
    await rig.client.post('/add', { url: 'http://ada:s3cretpw@no such host/' });
    expect(JSON.stringify(await rig.client.history())).not.toContain('s3cretpw');
    expect(rig.host.log.join('\n')).not.toContain('s3cretpw');
    for (const name of readdirSync(`${rig.host.dataDir}/downloads`).filter((entry) => entry.startsWith('db'))) {
      expect(readFileSync(`${rig.host.dataDir}/downloads/${name}`, 'latin1')).not.toContain('s3cretpw');
    }
    await rig.client.post('/delete', { where: 'done', ids: [`http://ada:s3cretpw@${address}`] });
    expect((await rig.client.history()).done.map((entry) => entry.uid)).not.toContain(uid);
    locked.close();
  });
});

describe('the lists', () => {
  it('lists pages, newest first, and searches by words', async () => {
    for (const title of ['Zebra%20one', 'Zebra%20two']) {
      await rig.client.ended(await rig.client.add(rig.site.url(`/p/og?title=${title}`)));
    }
    const results = await rig.client.get<{ downloads: { title: string }[]; total: number }>(
      '/downloads?q=zebra&limit=1',
    );
    expect(results).toMatchObject({ downloads: [{ title: 'Zebra two' }], total: 2 });
    const next = await rig.client.get<{ downloads: { title: string }[] }>('/downloads?q=ONE%20zebra');
    expect(next.downloads.map(({ title }) => title)).toEqual(['Zebra one']);
  });

  it('writes timestamps as integer nanoseconds that increase with each request', async () => {
    await rig.client.post('/add', { url: 'nonsense' });
    await rig.client.post('/add', { url: 'nonsense' });
    const text = await (await fetch(`${rig.client.base}/downloads?limit=2&status=error`)).text();
    const [newer, older] = [...text.matchAll(/"timestamp":(\d{19})[,}]/g)].map(([, digits]) => BigInt(digits ?? ''));
    expect(newer).toBeGreaterThan(older ?? 0n);
  });

  it('removes deleted entries by uid or by address', async () => {
    const url = rig.site.url('/p/og?title=Gone');
    const uid = await rig.client.add(url);
    const { filename = '' } = await rig.client.ended(uid);
    await rig.client.post('/delete', { where: 'queue', ids: [uid] });
    expect((await rig.client.history()).done.map((record) => record.uid)).toContain(uid);
    await rig.client.post('/delete', { where: 'done', ids: [url] });
    expect((await rig.client.history()).done.map((record) => record.uid)).not.toContain(uid);
    expect(existsSync(rig.file(filename))).toBe(true);
  });
});

describe('the status', () => {
  it('names mode, bound, engines and free space', async () => {
    const status = await rig.client.get<{ engine: object; disk_free: number }>('/status');
    expect(status).toMatchObject({ status: 'ok', mode: 'concurrent', max_concurrent: 3, paused: false });
    expect(status.engine).toMatchObject({
      ...{ 'yt-dlp': '2026.10.26', ffmpeg: expect.any(String) as string, js: `node ${process.versions.node}` },
    });
    expect(status.disk_free).toBeGreaterThan(0);
  });
});
