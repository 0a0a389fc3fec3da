import { extname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMedia } from './media.ts';
import { openRig, type Record as Row, type Rig } from './rig.ts';

/** Sources of the streams, with the available heights. */
const sources = {
  hls: { path: '/short/master.m3u8', heights: [2160, 1440, 1080, 720, 480, 360] },
  dash: { path: '/short/manifest.mpd', heights: [1080, 720, 360] },
  ladder: { path: '/p/ladder-short', heights: [2160, 1440, 1080, 720, 480, 360] },
} as const;
type Source = keyof typeof sources;

const qualities = ['best', '2160p', '1440p', '1080p', '720p', '480p', '360p', 'worst'] as const;

const containers = {
  mp4: { name: 'mov,mp4,m4a,3gp,3g2,mj2', video: 'h264', audio: 'aac' },
  mkv: { name: 'matroska,webm', video: 'h264', audio: 'aac' },
  webm: { name: 'matroska,webm', video: 'vp9', audio: 'opus' },
  avi: { name: 'avi', video: 'mpeg4', audio: 'mp3' },
} as const;
type Container = keyof typeof containers;

const sounds = {
  mp3: { name: 'mp3', codec: 'mp3' },
  m4a: { name: 'mov,mp4,m4a,3gp,3g2,mj2', codec: 'aac' },
  ogg: { name: 'ogg', codec: 'vorbis' },
  opus: { name: 'ogg', codec: 'opus' },
  flac: { name: 'flac', codec: 'flac' },
  wav: { name: 'wav', codec: 'pcm_s16le' },
} as const;

/** Returns the largest height up to the requested one. */
function getHeight(source: Source, quality: (typeof qualities)[number]): number | undefined {
  const { heights } = sources[source];
  if (quality === 'best') return heights[0];
  if (quality === 'worst') return heights.at(-1);
  return heights.find((height) => height <= Number.parseInt(quality, 10));
}

/**
 * Describes downloads from each source at each quality into each container, and of the audio alone, for the
 * combinations that `isTried` accepts, such as `hls best mp4` or `hls mp3`. Returns the rig they run on.
 */
export function describeMatrix(isTried: (cell: string) => boolean): () => Rig {
  const kinds = Object.keys(sources) as Source[];
  const cells = kinds
    .flatMap((source) =>
      qualities.flatMap((quality) =>
        (Object.keys(containers) as Container[]).map((format) => ({ source, quality, format })),
      ),
    )
    .filter(({ source, quality, format }) => isTried([source, quality, format].join(' ')));
  const audioCells = kinds
    .flatMap((source) => (Object.keys(sounds) as (keyof typeof sounds)[]).map((format) => ({ source, format })))
    .filter(({ source, format }) => isTried([source, format].join(' ')));

  let rig: Rig;
  /**
   * Downloads by combination. All are requested at the same time, so that the queue uses all cores; each test waits for
   * its own.
   */
  const downloads = new Map<string, Promise<string>>();

  beforeAll(async () => {
    rig = await openRig({ environment: { MAX_CONCURRENT_DOWNLOADS: '4' } });
    for (const { source, quality, format } of cells) sendRequest(source, { quality, format });
    for (const { source, format } of audioCells) sendRequest(source, { quality: 'audio only', format });
  });
  afterAll(async () => {
    await Promise.allSettled(downloads.values());
    await rig[Symbol.asyncDispose]();
  });

  function sendRequest(source: Source, fields: { quality: string; format: string }): void {
    const adding = rig.client.add(rig.site.url(sources[source].path), fields);
    adding.catch(() => undefined); // The cell's own test fails by it.
    downloads.set(`${source} ${fields.quality} ${fields.format}`, adding);
  }

  async function downloadCell(cell: string): Promise<Row> {
    // All downloads share the cores, and the first one waits for the largest video to be encoded.
    return await rig.client.ended((await downloads.get(cell)) ?? '', 290_000);
  }

  describe('a video', { timeout: 300_000 }, () => {
    it.each(cells)('from $source at $quality as $format', async ({ source, quality, format }) => {
      const record = await downloadCell(`${source} ${quality} ${format}`);
      expect(record).toMatchObject({ status: 'finished', error: null });
      const { name, video, audio } = containers[format];
      expect(extname(record.filename ?? '')).toBe(`.${format}`);
      const media = await readMedia(rig.file(record.filename ?? ''));
      expect(media).toMatchObject({ container: name, codecs: [`${video}/${getHeight(source, quality)}`, audio] });
    });
  });

  describe('audio only', { timeout: 300_000 }, () => {
    it.each(audioCells)('from $source as $format', async ({ source, format }) => {
      const record = await downloadCell(`${source} audio only ${format}`);
      expect(record).toMatchObject({ status: 'finished', error: null });
      expect(extname(record.filename ?? '')).toBe(`.${format}`);
      const media = await readMedia(rig.file(record.filename ?? ''));
      expect(media).toMatchObject({ container: sounds[format].name, codecs: [sounds[format].codec] });
    });
  });

  return () => rig;
}
