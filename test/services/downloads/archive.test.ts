import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromBufferPromise, type Entry } from 'yauzl';
import { z } from 'zod';
import { downloadsApi } from '../../../services/contracts/downloads/api.ts';
import { control } from '../../../services/control/index.ts';
import type { Item } from '../../../services/downloads/domain/item.ts';
import { createArchive } from '../../../services/downloads/files/archive.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openRecordedRig, type Rig } from './rig.ts';

describe('actions for several downloads', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRecordedRig({ services: [downloads, control] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  async function request(path: string, body?: object): Promise<Response> {
    return await fetch(`${rig.host.url('control')}/api/downloads${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json', Authorization: adminAuthorization },
    });
  }

  it('packs finished files into one archive with distinct names', async () => {
    const uids: string[] = [];
    const sizes: (number | null)[] = [];
    // While the link is in the queue, it is not added again.
    for (let count = 0; count < 2; count += 1) {
      const uid = await rig.client.add(rig.site.url('/single.mp4'));
      uids.push(uid);
      sizes.push((await rig.client.ended(uid)).size);
    }
    const reply = await request(`/archive?uids=${uids.join(',')},unknown`);
    expect(reply.headers.get('content-type')).toBe('application/zip');
    expect(reply.headers.get('content-disposition')).toContain('.zip');
    const bytes = Buffer.from(await reply.arrayBuffer());
    expect(Number(reply.headers.get('content-length'))).toBe(bytes.length);
    const zip = await fromBufferPromise(bytes, { lazyEntries: true });
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) entries.push(entry);
    expect(new Set(entries.map(({ fileName }) => fileName)).size).toBe(2);
    expect(entries.map(({ uncompressedSize }) => uncompressedSize)).toEqual(sizes);
  });

  it('refuses an archive without any file', async () => {
    expect((await request('/archive?uids=unknown')).status).toBe(404);
  });

  it('lists and retries all failed downloads', async () => {
    const uid = await rig.client.post('/add', { url: rig.site.url('/s/404'), quality: 'best' });
    expect(uid.status).toBe('error');
    const { downloads: failed } = z.parse(
      downloadsApi.ended.reply,
      await (await request('/ended?state=failed')).json(),
    );
    expect(failed).toHaveLength(1);
    const uids = failed.map(({ uid }) => uid);
    expect(await (await request('/retry-all', { uids: [...uids, 'unknown'] })).json()).toEqual({ retried: 1 });
    // The address still does not exist.
    const again = await rig.client.until(uids[0] ?? '', ({ status }) => status === 'error');
    expect(again.error).not.toBeNull();
  });
});

describe('createArchive', () => {
  const toItems = (filenames: readonly string[]): Item[] =>
    filenames.map((filename) => ({ filename, order: { type: 'video' } }) as Item);

  it('packs files whose names other systems would read as paths, and none outside of the folder', async () => {
    const root = mkdtempSync(join(tmpdir(), 'homeport-archive-'));
    const outside = `${root}-outside.mp4`;
    writeFileSync(outside, 'outside');
    mkdirSync(join(root, 'series'));
    const names = ['Q: why.mp4', 'AC\\DC.mp4', 'x\\..\\..\\y.mp4', 'line\nbreak.mp4', 'series/one.mp4', 'ONE.mp4'];
    for (const name of names) writeFileSync(join(root, name), name);
    const hostile = ['../x.mp4', outside, `../${root}-outside.mp4`, 'series', 'series/../../x.mp4', 'missing.mp4'];
    const archive = await createArchive(toItems([...names, ...hostile]), { getRoot: () => root });
    const zip = await fromBufferPromise(await buffer(archive?.stream ?? Readable.from([])), { lazyEntries: true });
    const entries: string[] = [];
    for await (const { fileName } of zip.eachEntry()) entries.push(fileName);
    expect(entries).toEqual(['Q_ why.mp4', 'AC_DC.mp4', 'x_.._.._y.mp4', 'line_break.mp4', 'one.mp4', 'ONE (2).mp4']);
  });

  it('ends the archive when a file is deleted before it is read', async () => {
    const root = mkdtempSync(join(tmpdir(), 'homeport-archive-'));
    for (const name of ['one.mp4', 'two.mp4']) writeFileSync(join(root, name), Buffer.alloc(1_000_000));
    const archive = await createArchive(toItems(['one.mp4', 'two.mp4']), { getRoot: () => root });
    rmSync(join(root, 'two.mp4'));
    await expect(buffer(archive?.stream ?? Readable.from([]))).rejects.toThrow('ENOENT');
  });

  it.runIf(process.platform === 'linux')('ends the archive when a file cannot be read', async () => {
    // The memory of this process is a regular file whose first byte cannot be read. The second file is added only
    // after the first one has failed.
    const root = '/proc/self';
    const archive = await createArchive(toItems(['mem', ...Array<string>(50).fill('status')]), { getRoot: () => root });
    await expect(buffer(archive?.stream ?? Readable.from([]))).rejects.toThrow();
  });
});
