import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { sharedEngines } from '../../support/engines.ts';
import { createCommandSettings } from '../../../services/downloads/engine/command-settings.ts';
import { Driver } from '../../../services/downloads/engine/driver.ts';
import { Extractor } from '../../../services/downloads/engine/extractor.ts';
import { Settings } from '../../../services/downloads/settings.ts';
import { defaultOrderOptions, type Order } from '../../../services/downloads/domain/order.ts';
import { silentLog } from '../../support/database-location.ts';
import { readMedia } from './media.ts';
import { dataFolderWith, openRig, type Record as Row, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(async () => await rig[Symbol.asyncDispose]());

type DownloadRow = Row & { readonly chapter_files?: readonly { filename: string; size: number }[] };

async function downloadFile(path: string, fields: object): Promise<DownloadRow> {
  return await rig.client.ended(await rig.client.add(rig.site.url(path), fields));
}

describe('a file for Apple devices', () => {
  it.each([
    ['/short/codecs.mpd', { codec: 'vp9' }, ['h264/360', 'aac']],
    ['/short/codecs.mpd', { codec: 'av1' }, ['h264/360', 'aac']],
    ['/short/codecs.mpd', { codec: 'h265' }, ['hevc/360', 'aac']],
    ['/short/codecs.mpd', { codec: 'auto' }, ['h264/360', 'aac']],
    ['/short/master.m3u8', { quality: '720' }, ['h264/720', 'aac']],
    ['/p/og?src=/vp9.webm&title=Apple', {}, ['h264/360', 'aac']],
    ['/p/og?src=/end.mp4&title=End', {}, ['h264/360', 'aac']],
  ])('converts %s with %j to H.264 or HEVC with AAC in MP4 with the index first', async (path, fields, codecs) => {
    const record = await downloadFile(path, { download_type: 'video', format: 'ios', quality: 'best', ...fields });
    expect(record).toMatchObject({ status: 'finished', format: 'ios' });
    expect(record.filename).toMatch(/\.mp4$/);
    const media = await readMedia(rig.file(record.filename ?? ''));
    expect(media.codecs).toEqual(codecs);
    expect(media.streams[0]?.tag).toBe(codecs[0] === 'hevc/360' ? 'hvc1' : 'avc1');
    expect(await topBoxes(rig.file(record.filename ?? ''))).toMatchObject(['ftyp', 'moov', expect.anything()]);
  });

  it('keeps a file that is already compatible', async () => {
    const record = await downloadFile('/p/og?src=/single.mp4&title=Same', { quality: 'best_ios', format: undefined });
    expect(record).toMatchObject({ format: 'ios', quality: 'best' });
    const original = await fetch(rig.site.url('/single.mp4'));
    expect(record.size).toBe((await original.arrayBuffer()).byteLength);
  });

  it('is created by default if the settings require it', async () => {
    await using apple = await openRig({ environment: { ENABLE_IOS_FORMAT: 'true' } });
    const uid = (await apple.client.post('/add', { url: apple.site.url('/vp9.webm'), quality: 'best' })).uid ?? '';
    const { filename = '' } = await apple.client.ended(uid);
    expect((await readMedia(apple.file(filename))).codecs).toEqual(['h264/360', 'aac']);
  });
});

it('encodes streams again that MP4 cannot contain', async () => {
  const { filename = '' } = await downloadFile('/p/og?src=/vp8.webm&title=Old', { format: 'mp4' });
  expect((await readMedia(rig.file(filename))).codecs).toEqual(['h264/360', 'aac']);
});

describe('an audio file', () => {
  it.each(['mp3', 'm4a', 'ogg', 'opus', 'flac'])('has a cover and tags as %s', async (format) => {
    const record = await downloadFile(`/p/chapters?title=Song%20${format}`, {
      download_type: 'audio',
      format,
      quality: 'best',
    });
    expect(record).toMatchObject({ status: 'finished', filename: `Song ${format}.${format}` });
    const media = await readMedia(rig.file(record.filename ?? ''));
    expect(media.streams.filter(({ cover }) => cover)).toMatchObject([{ kind: 'video', codec: 'mjpeg' }]);
    expect(media.tags).toMatchObject({ title: `Song ${format}`, artist: 'Ada' });
    expect((await readdir(rig.file(''))).filter((name) => name.startsWith(`Song ${format}`))).toEqual([
      record.filename,
    ]);
  });

  it('contains no login in its tags', async () => {
    const url = rig.site.url('/single.mp4?login').replace('://', '://ada:s3cret%40pw@');
    const uid = await rig.client.add(url, { download_type: 'audio', format: 'mp3', quality: 'best' });
    const { filename = '' } = await rig.client.ended(uid);
    const { tags } = await readMedia(rig.file(filename));
    expect(tags['purl']).toBe(rig.site.url('/single.mp4?login'));
    expect(JSON.stringify(tags)).not.toContain('s3cret');
  });

  it('has no cover as WAV, or if its picture is missing', async () => {
    const wave = await downloadFile('/p/chapters?title=Wave', {
      download_type: 'audio',
      format: 'wav',
      quality: 'best',
    });
    expect((await readMedia(rig.file(wave.filename ?? ''))).codecs).toEqual(['pcm_s16le']);
    const audio = await downloadFile('/single.mp4?bare', { download_type: 'audio', format: 'mp3', quality: '128' });
    const media = await readMedia(rig.file(audio.filename ?? ''));
    expect(media.streams.map(({ codec }) => codec)).toEqual(['mp3']);
  });
});

describe('a thumbnail download', () => {
  it.each([
    ['/p/og?title=Jpeg', 'Jpeg.jpg'],
    ['/p/og?title=Png&image=/cover.png', 'Png.jpg'],
  ])('stores the thumbnail of %s as a JPEG file', async (path, name) => {
    const record = await downloadFile(path, { format: 'thumbnail' });
    expect(record).toMatchObject({ status: 'finished', filename: name });
    const media = await readMedia(rig.file(name));
    expect(media.streams).toMatchObject([{ codec: 'mjpeg', height: 360 }]);
    expect((await readdir(rig.file(''))).filter((entry) => entry.startsWith(name.slice(0, 3)))).toEqual([name]);
  });
});

describe('chapters', () => {
  it('writes separate files for chapters next to the complete file', async () => {
    const fields = { format: 'mp4', split_by_chapters: true };
    const record = await downloadFile('/p/chapters?title=Parts', fields);
    expect(record).toMatchObject({ filename: 'Parts.mp4', split_by_chapters: true });
    const names = ['Parts - 01 - Intro.mp4', 'Parts - 02 - Body： one⧸two.mp4', 'Parts - 03 - End.mp4'];
    expect(record.chapter_files?.map(({ filename }) => filename)).toEqual(names);
    for (const { filename, size } of record.chapter_files ?? []) {
      expect((await stat(rig.file(filename))).size).toBe(size);
      expect((await readMedia(rig.file(filename))).seconds).toBeCloseTo(2, 0);
    }
    const secondDownload = await downloadFile('/p/chapters?title=Parts&again', fields);
    expect([secondDownload.filename, secondDownload.chapter_files?.[0]?.filename]).toEqual([
      'Parts (2).mp4',
      'Parts (2) - 01 - Intro.mp4',
    ]);
  });

  it('have the requested names in the requested folder, also as audio', async () => {
    const record = await downloadFile('/p/chapters?title=Album', {
      ...{ download_type: 'audio', format: 'mp3', quality: 'best', folder: 'music', custom_name_prefix: 'p' },
      ...{ split_by_chapters: true, chapter_template: '%(title)s/%(section_number)d %(section_title)s.%(ext)s' },
    });
    expect(record.filename).toBe('p.Album.mp3');
    expect(record.chapter_files?.map(({ filename }) => filename)).toEqual([
      'Album/p.1 Intro.mp3',
      'Album/p.2 Body： one⧸two.mp3',
      'Album/p.3 End.mp3',
    ]);
    expect((await readMedia(rig.file('music/Album/p.3 End.mp3'))).codecs).toEqual(['mp3']);
  });

  it.each(['../%(title)s.%(ext)s', '/tmp/%(title)s', 'chapter:/tmp/x'])(
    'cannot leave the folder by %s',
    async (chapter_template) => {
      const body = { url: rig.site.url('/p/chapters'), quality: 'best', split_by_chapters: true, chapter_template };
      expect(await rig.client.post('/add', body)).toMatchObject({ status: 'error' });
    },
  );

  it('downloads a video without chapters', async () => {
    const record = await downloadFile('/single.mp4?nochapters', { split_by_chapters: true });
    expect(record).toMatchObject({ status: 'finished' });
    expect(record.chapter_files).toBeUndefined();
  });
});

describe('a clip', () => {
  it.each([
    [{ clip_start: '0:02', clip_end: 4 }, { clip_start: 2, clip_end: 4 }, 2],
    [{ clip_start: '3s' }, { clip_start: 3, clip_end: null }, 3],
    [{ clip_end: '0m2s' }, { clip_start: 0, clip_end: 2 }, 2],
  ])('cuts %j to the requested length', async (fields, requestedRange, seconds) => {
    const record = await downloadFile(`/chapters.mp4?${JSON.stringify(requestedRange)}`, { ...fields, format: 'mp4' });
    expect(record).toMatchObject({ status: 'finished', ...requestedRange });
    const media = await readMedia(rig.file(record.filename ?? ''));
    expect(Math.abs(media.seconds - seconds)).toBeLessThan(0.6);
    expect(media.codecs).toEqual(['h264/360', 'aac']);
  });

  it('cuts a clip of audio and of an HLS stream', async () => {
    const sound = await downloadFile('/chapters.mp4?sound', {
      download_type: 'audio',
      format: 'mp3',
      clip_start: 1,
      clip_end: 3,
    });
    expect(Math.abs((await readMedia(rig.file(sound.filename ?? ''))).seconds - 2)).toBeLessThan(0.6);
    const hls = await downloadFile('/hls/master.m3u8?clip', { quality: '360', format: 'mp4', clip_start: 2 });
    const media = await readMedia(rig.file(hls.filename ?? ''));
    expect(media.codecs).toEqual(['h264/360', 'aac']);
    expect(media.seconds).toBeLessThan(3.1);
  });
});

describe('SponsorBlock', () => {
  /** Implements SponsorBlock's API: returns the segments of all videos whose hash begins with the requested prefix. */
  async function sponsorBlock(videoId: string) {
    const requests: URL[] = [];
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      requests.push(url);
      const prefix = createHash('sha256').update(videoId).digest('hex').slice(0, 4);
      if (url.pathname !== `/api/skipSegments/${prefix}`) return void response.writeHead(404).end('Not Found');
      const base = { actionType: 'skip', votes: 3, locked: 1, videoDuration: 6, description: '' };
      const segments = [
        { ...base, category: 'sponsor', segment: [2, 4], UUID: 'a' },
        { ...base, category: 'sponsor', segment: [2, 4], UUID: 'b', videoDuration: 900 },
      ];
      const others = { videoID: 'other', segments: [{ ...base, category: 'sponsor', segment: [0, 6], UUID: 'c' }] };
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify([others, { videoID: videoId, segments }]));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      asked: requests,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    };
  }

  /** Documented format of SponsorBlock. */
  const sponsorblock = {
    postprocessors: [
      { key: 'SponsorBlock', categories: ['sponsor', 'selfpromo', 'interaction'] },
      { key: 'ModifyChapters', remove_sponsor_segments: ['sponsor', 'selfpromo', 'interaction'] },
    ],
  };

  it.each([
    ['a loaded extractor', true, false],
    ['the executable', false, false],
    ['a loaded extractor, by the preset of the peer', true, true],
  ])('removes the segments of SponsorBlock: %s', async (_name, keepLoaded, byPreset) => {
    const videoId = 'abcdefghijk';
    await using api = await sponsorBlock(videoId);
    const folder = dataFolderWith({});
    const engines = sharedEngines();
    const common = { engines, clock: systemClock, log: silentLog };
    await using extractor = new Extractor({ ...common, keepLoaded, allowPrivateAddresses: true });
    const driver = new Driver({
      ...common,
      extractor,
      vault: { seal: () => '', open: () => '', fingerprint: () => '' },
      cookies: {
        acquire: async () => await Promise.resolve({ path: undefined, [Symbol.asyncDispose]: () => Promise.resolve() }),
      },
      settings: createCommandSettings(
        Settings.parse({
          ...{ socketTimeout: 10, retries: 1, ytdlPresets: { sponsorblock } },
          ...{ sponsorblockApi: api.url, sponsorblockCategories: ['sponsor', 'selfpromo'] },
        }),
        { cache: join(folder, 'cache'), downloads: folder },
        { args: [], find: () => Promise.resolve(null) },
      ),
    });
    const order: Order = {
      ...{ type: 'video', codec: 'auto', format: 'mp4', quality: 'best', folder: null, prefix: '', itemLimit: 0 },
      ...{ autoStart: true, login: null },
      ...defaultOrderOptions,
      ...(byPreset ? { presets: ['sponsorblock'] } : { sponsorblock: true }),
    };
    // Probe result of a YouTube video, with media of the fixture site.
    await mkdir(join(folder, 'job'));
    const info = {
      ...{
        id: videoId,
        title: 'Sponsored',
        ext: 'mp4',
        duration: 6,
        webpage_url: 'https://www.youtube.com/watch?v=x',
      },
      ...{ extractor: 'youtube', extractor_key: 'Youtube', url: rig.site.url('/chapters.mp4') },
    };
    await writeFile(join(folder, 'job', 'info.json'), JSON.stringify(info));
    try {
      const path = await driver.download({
        item: {
          ...{ uid: 'u', url: 'https://www.youtube.com/watch?v=x', order, state: 'downloading', title: 'Sponsored' },
          ...{ videoId, liveStatus: null, playlist: null, probed: true, attempts: 1, message: null, filename: null },
          ...{ size: null, addedNs: '0', createdAt: systemClock.now(), finishedAt: null, thumbnail: null },
        },
        folder: join(folder, 'job'),
        template: '%(title)s.%(ext)s',
        signal: new AbortController().signal,
        onStart: () => Promise.resolve(),
        onEvent: () => undefined,
      });
      const media = await readMedia(path ?? '');
      expect(Math.abs(media.seconds - 4)).toBeLessThan(0.6);
      expect(api.asked).toHaveLength(1);
      const categories = JSON.parse(api.asked[0]?.searchParams.get('categories') ?? '') as string[];
      expect(categories.toSorted()).toEqual(
        byPreset ? ['interaction', 'selfpromo', 'sponsor'] : ['selfpromo', 'sponsor'],
      );
      expect(api.asked[0]?.searchParams.get('service')).toBe('YouTube');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the prefix of a request', () => {
  it('precedes the names of all entries of a playlist', async () => {
    const body = {
      url: rig.site.url('/feed/2.rss?title=Show'),
      quality: 'best',
      format: 'any',
      custom_name_prefix: 'Mine',
    };
    const { uids = [] } = await rig.client.post('/add', body);
    const records = await Promise.all(uids.map(async (uid) => await rig.client.ended(uid)));
    expect(records.map(({ filename }) => filename)).toEqual(['Show/Mine.Episode 001.mp4', 'Show/Mine.Episode 002.mp4']);
  });
});

/** Lists the boxes of an MP4 file in order. */
async function topBoxes(path: string): Promise<readonly string[]> {
  const bytes = await readFile(path);
  const names: string[] = [];
  for (let offset = 0; offset + 8 <= bytes.length; offset += Math.max(8, bytes.readUInt32BE(offset))) {
    names.push(bytes.toString('latin1', offset + 4, offset + 8));
  }
  return names.slice(0, 3);
}
