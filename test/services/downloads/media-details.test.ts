import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { fromBufferPromise, type Entry } from 'yauzl';
import { parseFileDetails } from '../../../services/downloads/engine/media-details.ts';
import { createArchive } from '../../../services/downloads/files/archive.ts';
import { anItem } from './sample-item.ts';

describe('an archive of downloads', () => {
  it('contains the files that exist under distinct names, and has the announced length', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'archive-'));
    try {
      writeFileSync(join(folder, 'film.mp4'), 'one');
      const finished = { ...anItem, filename: 'film.mp4' };
      const items = [finished, finished, { ...anItem, filename: 'gone.mp4' }, { ...anItem, filename: '../film.mp4' }];
      const archive = await createArchive(items, { getRoot: () => folder });
      const bytes = archive === undefined ? Buffer.alloc(0) : await buffer(archive.stream);
      expect(archive?.size).toBe(bytes.length);
      const zip = await fromBufferPromise(bytes, { lazyEntries: true });
      const entries: Entry[] = [];
      for await (const entry of zip.eachEntry()) entries.push(entry);
      expect(entries.map(({ fileName }) => fileName)).toEqual(['film.mp4', 'film (2).mp4']);
      expect(entries.map(({ uncompressedSize }) => uncompressedSize)).toEqual([3, 3]);
      expect(await createArchive([anItem], { getRoot: () => folder })).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the details of a file', () => {
  it('reads length, height and codecs without the cover', () => {
    expect(
      parseFileDetails([
        "Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'film.mp4':",
        '  Duration: 01:02:03.50, start: 0.000000, bitrate: 121 kb/s',
        '  Stream #0:0[0x1](und): Video: h264 (High) (avc1 / 0x31637661), yuv420p(tv), 1920x1080 [SAR 1:1 DAR 16:9], 25 fps',
        '  Stream #0:1[0x2](und): Audio: aac (LC) (mp4a / 0x6134706D), 44100 Hz, mono, fltp, 69 kb/s (default)',
        '  Stream #0:2[0x0]: Video: mjpeg (Baseline), yuvj420p(pc), 640x360, 90k tbr (attached pic)',
      ]),
    ).toEqual({ duration: 3723.5, height: 1080, videoCodec: 'h264', audioCodec: 'aac' });
  });

  it('reports nothing about a file that is not media', () => {
    expect(parseFileDetails(['film.txt: Invalid data found when processing input'])).toEqual({});
  });
});
