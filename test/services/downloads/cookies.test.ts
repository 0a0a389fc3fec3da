import * as m from '#messages/downloads-problems';
import { rmSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { readCookieFile } from '../../../services/downloads/cookies/netscape.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { adminAuthorization } from '../../support/host.ts';
import { dataFolderWith, openRig, type Client, type Rig } from './rig.ts';

const secret = 'fixture';
const cookies =
  `# Netscape HTTP Cookie File\r\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t${secret}\r\n` +
  '#HttpOnly_.example.org\tTRUE\t/\tTRUE\t1999999999\tother\tx y\r\n';

async function upload(client: Client, content: string | Uint8Array, field = 'cookies'): Promise<Response> {
  const form = new FormData();
  form.set(field, new Blob([content as BlobPart]), 'cookies.txt');
  return await fetch(`${client.base}/upload-cookies`, { method: 'POST', body: form });
}

describe.each([
  ['a loaded yt-dlp', true],
  ['its executable', false],
])('cookies for %s', (_name, keepLoaded) => {
  it('downloads from a page for signed-in users and leaves no unencrypted copy', async () => {
    const dataDir = dataFolderWith({ keepLoaded });
    try {
      await using rig = await openRig({ dataDir });
      const { client, site } = rig;
      const url = `${site.address}/p/cookie`;
      expect(await client.post('/add', { url, quality: 'best' })).toMatchObject({
        status: 'error',
        msg: expect.stringContaining('403'),
      });
      expect(await (await upload(client, cookies)).json()).toEqual({
        status: 'ok',
        msg: `Cookies uploaded (${cookies.length} bytes)`,
      });
      expect(await client.get('/cookie-status')).toEqual({ status: 'ok', has_cookies: true });

      const slow = `${url}?title=Members&src=/slow/300/single.mp4`;
      const uid = await client.add(slow);
      await client.until(uid, ({ percent }) => (percent ?? 0) > 0);
      const cookieFolder = join(dataDir, 'downloads', 'lent');
      const [file] = await readdir(cookieFolder);
      expect((await stat(join(cookieFolder, file ?? ''))).mode & 0o777).toBe(0o600);
      expect(await client.ended(uid)).toMatchObject({ status: 'finished', error: null });
      await vi.waitFor(async () => expect(await readdir(cookieFolder)).toEqual([]));
      // The folder of the download is deleted after it finishes.
      await vi.waitFor(async () => expect(await readdir(join(dataDir, 'downloads', 'temp'))).toEqual([]));
      expect(await filesWith(dataDir, secret)).toEqual([]);
      expect(rig.host.log.join('')).not.toContain(secret);

      expect(await client.post('/delete-cookies', {})).toEqual({ status: 'ok' });
      expect(await client.post('/add', { url: `${url}?again`, quality: 'best' })).toMatchObject({ status: 'error' });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe('an uploaded cookie file', () => {
  it.each([
    ['JSON of a browser extension', '[{"name": "session", "value": "hidden"}]', 'JSON'],
    ['lines with blanks in place of tabs', '127.0.0.1 FALSE / FALSE 0 session hidden\n', 'Line 1'],
    ['no cookie', '# Netscape HTTP Cookie File\n\n', m.noCookies()],
    ['a field too many', 'a.example\tFALSE\t/\tFALSE\t0\tsession\thidden\tmore\n', 'Line 1'],
  ])('is refused for %s, without its content in the response', (_case, text, reason) => {
    expect(() => readCookieFile(text)).toThrow(reason);
    expect(() => readCookieFile(text)).not.toThrow('hidden');
  });

  it('is stored with the header that yt-dlp expects, without invalid lines', () => {
    const file = readCookieFile('\ufeffa.example\tFALSE\t/\tFALSE\t0\tsession\tx\n# a note\n\n');
    expect(file.text).toBe('# Netscape HTTP Cookie File\na.example\tFALSE\t/\tFALSE\t0\tsession\tx\n');
    expect(readCookieFile(cookies)).toMatchObject({ count: 2, sites: ['127.0.0.1', 'example.org'] });
  });

  it('is refused when it is too large, incomplete, or no form', async () => {
    await using rig: Rig = await openRig();
    const line = 'a.example\tFALSE\t/\tFALSE\t0\tsession\tx\n';
    const maxCookies = line.repeat(Math.floor(1_000_000 / line.length));
    expect((await upload(rig.client, maxCookies)).status).toBe(200);
    const large = await upload(rig.client, maxCookies + line);
    expect([large.status, await large.json()]).toEqual([
      400,
      { status: 'error', msg: 'A cookies file has at most 1000000 bytes' },
    ]);
    expect((await upload(rig.client, new Uint8Array([0xff, 0xfe]))).status).toBe(400);
    for (const headers of [{ 'Content-Type': 'multipart/form-data' }, { 'Content-Type': 'text/plain' }]) {
      const reply = await fetch(`${rig.client.base}/upload-cookies`, { method: 'POST', headers, body: cookies });
      expect([reply.status, await reply.json()]).toEqual([400, { status: 'error', msg: 'No cookies file provided' }]);
    }
    // The former valid file is kept.
    expect(await rig.client.get('/cookie-status')).toEqual({ status: 'ok', has_cookies: true });
  });

  it('can be uploaded, viewed and deleted by the app API, which returns only the sites', async () => {
    await using rig = await openRig({ services: [downloads, control] });
    const call = async (method: string, body?: object): Promise<any> => {
      const reply = await fetch(`${rig.host.url('control')}/api/downloads/cookies`, {
        method,
        headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return await reply.json();
    };
    expect(await call('GET')).toEqual({ present: false, count: 0, sites: [], uploadedAt: null });
    const status = { present: true, count: 2, sites: ['127.0.0.1', 'example.org'], uploadedAt: expect.any(Number) };
    expect(await call('PUT', { text: cookies })).toEqual(status);
    expect(await call('GET')).toEqual(status);
    expect(await call('PUT', { text: 'x' })).toMatchObject({ error: { code: 'downloads.bad_cookies' } });
    expect(await call('DELETE')).toMatchObject({ present: false });
  });
});

/** Returns the files below a folder that contain a text, except the download. */
async function filesWith(folder: string, text: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.mp4'))) {
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(`session\t${text}`)) files.push(path);
  }
  return files;
}
