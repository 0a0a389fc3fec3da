import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../../.cache/fixture-site/', import.meta.url));

/** Heights of the quality ladder, tallest first; width is 16:9. */
export const heights = [2160, 1440, 1080, 720, 480, 360] as const;
const seconds = 4;

/**
 * Makes the site's media with ffmpeg, once: they are kept in the repository's cache under the hash of this recipe.
 * Two test processes may ask at once; one makes them, the other waits. Returns their folder.
 */
export async function fixtureMedia(): Promise<string> {
  const recipe = createHash('sha256')
    .update(await readFile(fileURLToPath(import.meta.url)))
    .digest('hex');
  const folder = join(cache, recipe.slice(0, 12));
  const maker = `${folder}.making`;
  await mkdir(cache, { recursive: true });
  for (;;) {
    if (existsSync(folder)) return folder;
    if (await claim(maker)) break;
    await sleep(100);
  }
  try {
    if (!existsSync(folder)) await make(folder);
    return folder;
  } finally {
    await rm(`${folder}.partial`, { recursive: true, force: true });
    await rm(maker, { recursive: true, force: true });
  }
}

/** True when we are the one to make the media; a claim whose process is gone counts for nothing. */
async function claim(maker: string): Promise<boolean> {
  try {
    await mkdir(maker);
    await writeFile(join(maker, String(process.pid)), '');
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const [pid] = await readdir(maker).catch(() => []);
  if (pid !== undefined && !existsSync(`/proc/${pid}`) && existsSync('/proc/self')) {
    await rm(maker, { recursive: true, force: true });
  }
  return false;
}

async function make(folder: string): Promise<void> {
  const draft = `${folder}.partial`;
  await mkdir(join(draft, 'hls'), { recursive: true });
  const ffmpeg = async (...args: string[]): Promise<void> => {
    await run('ffmpeg', ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', ...args], { cwd: draft });
  };
  const picture = (height: number, rate = 10) => [
    ...['-f', 'lavfi', '-i', `testsrc2=size=${width(height)}x${height}:rate=${rate}:duration=${seconds}`],
  ];
  const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '20', '-crf', '32'];
  const faststart = ['-movflags', '+faststart'];

  await ffmpeg('-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`, '-c:a', 'aac', '-b:a', '96k', 'aud.m4a');
  for (const height of heights) {
    await ffmpeg(...picture(height), ...h264, `v${height}.mp4`);
    await ffmpeg('-i', `v${height}.mp4`, '-i', 'aud.m4a', '-c', 'copy', ...faststart, `ladder${height}.mp4`);
    await ffmpeg('-i', `v${height}.mp4`, '-c', 'copy', ...hls(`v${height}`));
    await rm(join(draft, `v${height}.mp4`));
  }
  await ffmpeg('-i', 'aud.m4a', '-c', 'copy', ...hls('aud'));
  await rename(join(draft, 'ladder360.mp4'), join(draft, 'single.mp4'));
  // Large for its length, so that a slowed transfer leaves time to disturb it.
  await ffmpeg(...picture(720, 25), '-i', 'aud.m4a', ...h264, '-b:v', '6M', '-minrate', '6M', '-bufsize', '6M',
    '-x264-params', 'nal-hrd=cbr', '-c:a', 'copy', ...faststart, 'big.mp4'); // prettier-ignore
  await ffmpeg(...picture(360), '-i', 'aud.m4a', '-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8',
    '-c:a', 'libopus', 'vp9.webm'); // prettier-ignore
  await ffmpeg('-i', 'single.mp4', '-frames:v', '1', 'cover.jpg');
  await writeFile(join(draft, 'hls', 'master.m3u8'), masterPlaylist());
  await rename(draft, folder);
}

/** 16:9, even as the codec wants it. */
function width(height: number): number {
  return Math.round((height * 8) / 9) * 2;
}

function hls(name: string): string[] {
  return [
    '-f',
    'hls',
    '-hls_time',
    '2',
    '-hls_playlist_type',
    'vod',
    '-hls_segment_filename',
    `hls/${name}-%d.ts`,
    `hls/${name}.m3u8`,
  ];
}

function masterPlaylist(): string {
  const rungs = heights.map((height) => {
    const traits = [
      `BANDWIDTH=${height * 2000}`,
      `RESOLUTION=${width(height)}x${height}`,
      'CODECS="avc1.42c01e,mp4a.40.2"',
      'AUDIO="aud"',
    ];
    return `#EXT-X-STREAM-INF:${traits.join(',')}\nv${height}.m3u8\n`;
  });
  const audio = '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aud",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="aud.m3u8"\n';
  return `#EXTM3U\n#EXT-X-VERSION:4\n${audio}${rungs.join('')}`;
}
