import * as m from '#messages/downloads-problems';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { downloadsApi, type Download } from '../../../services/contracts/downloads/api.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openRig, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ services: [downloads, control] });
});
afterAll(async () => await rig[Symbol.asyncDispose]());

async function row(uid: string): Promise<Download> {
  const { queue, history } = z.parse(downloadsApi.list.reply, await api(rig.host.url('control'), '/api/downloads'));
  const record = [...queue, ...history].find((entry) => entry.uid === uid);
  if (record === undefined) throw new Error(`no row ${uid}`);
  return record;
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(rig.host.url('control') + path, { headers: { Authorization: adminAuthorization, ...headers } });
}

describe('the thumbnail of a download', () => {
  it('is fetched once, stored, and deleted with the download', async () => {
    rig.site.reset();
    const uid = await rig.client.add(rig.site.url('/p/og?title=Picture'));
    await rig.client.ended(uid);
    expect(await row(uid)).toMatchObject({ title: 'Picture', thumbnail: true });
    const first = await get(`/api/downloads/${uid}/thumbnail`);
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect(first.headers.get('content-security-policy')).toContain('sandbox');
    await get(`/api/downloads/${uid}/thumbnail`);
    // The thumbnail is loaded for the notification or for the first request.
    expect(rig.site.stats().hits['/cover.jpg']).toBe(1);
    await rig.client.post('/delete', { where: 'done', ids: [uid] });
    expect((await get(`/api/downloads/${uid}/thumbnail`)).status).toBe(404);
  });

  it('is not found without access, or if the site returns no picture', async () => {
    const server = createServer((request, response) => {
      response.setHeader('Content-Type', request.url === '/image.jpg' ? 'image/jpeg' : 'text/html');
      const image = `http://127.0.0.1:${(server.address() as AddressInfo).port}/image.jpg`;
      const video = rig.site.url('/single.mp4');
      response.end(
        request.url === '/image.jpg'
          ? '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
          : `<meta property="og:title" content="Odd"><meta property="og:video" content="${video}"><meta ` +
              `property="og:image" content="${image}">`,
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const uid = await rig.client.add(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page`);
    expect(await rig.client.ended(uid)).toMatchObject({ status: 'finished', title: 'Odd' });
    expect((await get(`/api/downloads/${uid}/thumbnail`)).status).toBe(404);
    expect((await fetch(`${rig.host.url('control')}/api/downloads/${uid}/thumbnail`)).status).toBe(401);
    server.closeAllConnections();
    server.close();
  });
});

describe('a finished file', () => {
  it('supports ranges and is saved under its name', async () => {
    const uid = await rig.client.add(rig.site.url('/p/og?title=Größe "1"'));
    const { filename = '' } = await rig.client.ended(uid);
    const bytes = await readFile(rig.file(filename));
    const path = `/api/downloads/${uid}/file`;
    const full = await get(path);
    expect([full.status, full.headers.get('content-type'), full.headers.get('accept-ranges')]).toEqual([
      200,
      'video/mp4',
      'bytes',
    ]);
    expect(Buffer.from(await full.arrayBuffer()).equals(bytes)).toBe(true);
    const ranges: readonly (readonly [string, number, number])[] = [
      ['bytes=0-99', 0, 100],
      [`bytes=${bytes.length - 5}-`, bytes.length - 5, bytes.length],
      ['bytes=-7', bytes.length - 7, bytes.length],
      ['bytes=10-999999999', 10, bytes.length],
    ];
    for (const [range, start, end] of ranges) {
      const part = await get(path, { Range: range });
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `bytes ${start}-${end - 1}/${bytes.length}`,
      ]);
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(start, end))).toBe(true);
    }
    expect((await get(path, { Range: `bytes=${bytes.length}-` })).status).toBe(416);
    expect((await get(path, { Range: 'bytes=0-1', 'If-Range': '"older"' })).status).toBe(200);
    expect((await get(path, { 'If-None-Match': full.headers.get('etag') ?? '' })).status).toBe(304);
    const saved = await get(`${path}?save=yes`);
    expect(saved.headers.get('content-disposition')).toMatch(
      /^attachment; filename="Gr__e .+"; filename\*=UTF-8''Gr%C3%B6%C3%9Fe/,
    );
    await rm(rig.file(filename));
    const missing = await get(path);
    expect([missing.status, await missing.json()]).toEqual([
      404,
      { error: { code: 'downloads.no_file', detail: m.fileNotFound() } },
    ]);
  });
});
