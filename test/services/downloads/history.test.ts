import * as m from '#messages/downloads-problems';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { downloadsApi } from '../../../services/contracts/downloads/api.ts';
import { downloadStatistics } from '../../../services/contracts/downloads/statistics.ts';
import { control } from '../../../services/control/index.ts';
import { findCaptionLanguage } from '../../../services/downloads/domain/caption-files.ts';
import { readCues } from '../../../services/downloads/domain/cues.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openRig, type Rig } from './rig.ts';

describe('the history', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({
      services: [downloads, control],
      environment: { YTDL_OPTIONS_PRESETS: '{"thrifty": {"format_sort": ["res:360"]}}' },
    });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  async function ask(path: string, body?: object): Promise<unknown> {
    const reply = await fetch(`${rig.host.url('control')}/api/downloads${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json', Authorization: adminAuthorization },
    });
    return await reply.json();
  }
  async function titles(query: string): Promise<readonly string[]> {
    return z.parse(downloadsApi.list.reply, await ask(query)).history.map(({ title }) => title);
  }

  it('is filtered by result and by request options', async () => {
    const video = await rig.client.add(rig.site.url('/p/og?title=Film'));
    const sound = await rig.client.add(rig.site.url('/p/og?title=Song'), { quality: 'audio', format: 'm4a' });
    await rig.client.post('/add', { url: rig.site.url('/s/404'), quality: 'best' });
    await Promise.all([rig.client.ended(video), rig.client.ended(sound)]);
    expect(await titles('')).toHaveLength(3);
    expect(await titles('?state=failed')).toEqual(['127.0.0.1']);
    const { days, sites, largest } = z.parse(downloadStatistics.reply, await ask('/statistics'));
    expect(days).toHaveLength(30);
    expect(days.at(-1)).toMatchObject({ files: 2, failed: 1 });
    expect(days.at(-1)?.bytes).toBeGreaterThan(1000);
    expect(sites).toEqual([{ site: '127.0.0.1', files: 2, bytes: days.at(-1)?.bytes }]);
    expect(largest.map(({ title }) => title)).toEqual(['Film', 'Song']);
    const year = z.parse(downloadStatistics.reply, await ask('/statistics?days=365'));
    expect([year.days.length, year.days.at(-1), year.sites]).toEqual([365, days.at(-1), sites]);
    expect(await ask('/statistics?days=1000')).toMatchObject({ error: { code: expect.any(String) } });
    expect((await titles('?state=finished')).toSorted()).toEqual(['Film', 'Song']);
    expect(await titles('?kind=audio')).toEqual(['Song']);
    expect(await titles('?kind=video&state=finished&q=film')).toEqual(['Film']);
  });

  it('includes the existing folders and the presets', async () => {
    for (const folder of ['Talks/2026', 'Talks/Day 10', 'Talks/Day 2'])
      await mkdir(rig.file(folder), { recursive: true });
    expect(await ask('/choices')).toEqual({
      folders: ['Talks', 'Talks/2026', 'Talks/Day 2', 'Talks/Day 10'],
      presets: ['thrifty'],
    });
  });

  it('downloads a file again in the same format, next to the existing one', async () => {
    const first = await rig.client.add(rig.site.url('/p/og?title=Again'), { quality: 'audio', format: 'm4a' });
    await rig.client.ended(first);
    const { uids } = (await ask('/again', { uid: first })) as { uids: string[] };
    expect(await rig.client.ended(uids[0] ?? '')).toMatchObject({ filename: 'Again (2).m4a', status: 'finished' });
    expect(existsSync(rig.file('Again.m4a'))).toBe(true);
    expect(await ask('/again', { uid: 'nobody' })).toMatchObject({
      error: { detail: m.notInHistory() },
    });
  });

  it('plays with the subtitles next to the file, and deletes them with it on request', async () => {
    const uid = await rig.client.add(rig.site.url('/p/og?title=Talk'));
    const { filename = '' } = await rig.client.ended(uid);
    expect(filename).toBe('Talk.mp4');
    await writeFile(rig.file('Talk.en.srt'), '1\n00:00:01,500 --> 00:00:03,000\nAhoy\n');
    await writeFile(rig.file('Talk.de.vtt'), 'WEBVTT\n\n00:01.000 --> 00:02.000\nMoin\n');
    await writeFile(rig.file('Talk.about.boats.mp4'), 'another one');
    expect(await ask(`/${uid}/captions`)).toEqual({
      captions: [
        { language: 'de', cues: [{ from: 1, to: 2, text: 'Moin' }] },
        { language: 'en', cues: [{ from: 1.5, to: 3, text: 'Ahoy' }] },
      ],
    });
    await ask('/remove', { uids: [uid], files: true });
    await expect
      .poll(() => ['Talk.mp4', 'Talk.en.srt', 'Talk.de.vtt'].filter((name) => existsSync(rig.file(name))))
      .toEqual([]);
    expect(existsSync(rig.file('Talk.about.boats.mp4'))).toBe(true);
  });

  it('keeps the file when only the row is removed', async () => {
    const uid = await rig.client.add(rig.site.url('/p/og?title=Kept'));
    await rig.client.ended(uid);
    expect(await ask('/remove', { uids: [uid] })).toEqual({ removed: 1 });
    expect(existsSync(rig.file('Kept.mp4'))).toBe(true);
  });

  it('opens in a browser from the root of the port, with the host name of the browser', async () => {
    const port = new URL(rig.client.base).port;
    const page = new URL(rig.host.url('control')).port;
    for (const name of ['127.0.0.1', 'localhost']) {
      const reply = await fetch(`http://${name}:${port}/`, { redirect: 'manual' });
      expect([reply.status, reply.headers.get('location')]).toEqual([302, `http://${name}:${page}/downloads`]);
    }
    const robots = await (await fetch(`${rig.client.base}/robots.txt`)).text();
    expect(robots).toContain('Disallow: /download/');
    expect(robots).toContain('Disallow: /audio_download/');
  });
});

describe('subtitle files', () => {
  it('are parsed with or without hours and numbers, and rejected otherwise', () => {
    expect(readCues('WEBVTT\r\n\r\nintro\r\n01:00:00.000 --> 01:00:01.250 align:start\r\nOne\r\nTwo\r\n')).toEqual([
      { from: 3_600_000, to: 3_601_250, lines: ['One', 'Two'] },
    ]);
    expect(readCues('00:00:05,000 --> 00:00:04,000\nbackwards\n\n00:00:01,000 --> 00:00:02,000\n\n')).toEqual([]);
    expect(readCues('<html>00:01</html>')).toEqual([]);
  });

  it.each([
    ['Talk.mp4', 'Talk.en.srt', 'en'],
    ['Talk.mp4', 'Talk.pt-BR.vtt', 'pt-BR'],
    ['Talk.mp4', 'Talk (2).en.srt', undefined],
    ['Talk.mp4', 'Talk.about.boats.srt', undefined],
    ['Talk.mp4', 'Talk.mp4', undefined],
  ])('reads for %s the language of %s as %s', (filename, subtitles, language) => {
    expect(findCaptionLanguage(filename, subtitles)).toBe(language);
  });
});
