import * as m from '#messages/downloads-problems';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DownloadPreview } from '../../../services/contracts/downloads/preview.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { admin } from '../../support/host.ts';
import { fakeEngine, openRig, type Rig } from './rig.ts';

describe('a preview of a link', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({ services: [downloads, control] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  async function readPreview(
    url: string,
    { host } = rig,
  ): Promise<{ preview: DownloadPreview | null; reason: string }> {
    const reply = await fetch(`${host.url('control')}/api/downloads/preview`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Basic ${Buffer.from(`${admin.name}:${admin.password}`).toString('base64')}`,
      },
      body: JSON.stringify({ url }),
    });
    return (await reply.json()) as { preview: DownloadPreview | null; reason: string };
  }

  it('returns title, duration and available heights, and queues nothing', async () => {
    const { preview } = await readPreview(rig.site.url('/hls/master.m3u8'));
    expect(preview).toMatchObject({ title: 'master', entries: null, live: false, picture: null });
    expect(preview?.heights.length).toBeGreaterThan(2);
    expect(preview?.heights).toEqual(preview?.heights.toSorted((a, b) => b - a));
    expect(await rig.client.history()).toEqual({ done: [], queue: [], pending: [] });
  });

  it('includes the picture', async () => {
    const { preview } = await readPreview(rig.site.url('/p/og'));
    expect(preview?.title).not.toBe('');
    expect(preview?.picture).toMatch(/^data:image\/jpeg;base64,/);
  });

  it('counts the entries of a playlist', async () => {
    expect((await readPreview(rig.site.url('/feed/7.rss'))).preview).toMatchObject({ entries: 7, heights: [] });
  });

  it('returns the reason if there is no preview', async () => {
    expect(await readPreview('ftp://a.example/x')).toEqual({
      preview: null,
      reason: expect.stringContaining('http') as string,
      failure: 'scheme_not_supported',
    });
    const missing = await readPreview(rig.site.url('/s/404'));
    expect(missing).toEqual({
      preview: null,
      reason: expect.stringContaining('404') as string,
      failure: 'not_found',
    });
  });

  it('returns an error for an incomplete output of the extractor', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-preview-'));
    const environment = fakeEngine(folder, `printf '%s' '{"id": "1", "ti'`);
    await using previewRig = await openRig({ services: [downloads, control], environment });
    expect(await readPreview(previewRig.site.url('/x'), previewRig)).toEqual({
      preview: null,
      reason: m.engineOutputInvalid(),
      failure: 'engine_output_invalid',
    });
    rmSync(folder, { recursive: true });
  });

  it('loads a page for signed-in users with the cookies', async () => {
    const members = `${rig.site.address}/p/cookie`;
    expect((await readPreview(members)).preview).toBeNull();
    const form = new FormData();
    const line = ['127.0.0.1', 'FALSE', '/', 'FALSE', '0', 'session', 'fixture'].join('\t');
    form.set('cookies', new Blob([`# Netscape HTTP Cookie File\n${line}\n`]), 'cookies.txt');
    await fetch(`${rig.client.base}/upload-cookies`, { method: 'POST', body: form });
    expect((await readPreview(members)).preview).toMatchObject({ live: false });
  });
});
