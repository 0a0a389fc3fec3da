import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Heights of the quality ladder, tallest first; width is 16:9. */
export const heights = [2160, 1440, 1080, 720, 480, 360] as const;
/** Heights of the DASH manifest. */
const dashHeights = [1080, 720, 360] as const;
const seconds = 4;
/** Durations of media that are converted often, and therefore short. */
const shortSeconds = 1;

/** Languages and texts of the captions. */
export const captions = { en: 'Hello, world', es: 'Hola, mundo', de: 'Guten Tag, Welt' } as const;

/** Codecs of `short/codecs.mpd` besides H.264, at 360 lines. */
const otherCodecs: Readonly<Record<string, readonly string[]>> = {
  h265: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'],
  vp9: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'],
  av1: ['-c:v', 'libsvtav1', '-preset', '12', '-svtav1-params', 'lp=1'],
};

type Ffmpeg = (...args: string[]) => Promise<void>;

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '20', '-crf', '32'];
const faststart = ['-movflags', '+faststart'];

/** Writes all media of the site below the folder. */
export async function makeMedia(folder: string): Promise<void> {
  await Promise.all(['hls', 'short'].map(async (name) => await mkdir(join(folder, name))));
  const ffmpeg = async (...args: string[]): Promise<void> => {
    await run('ffmpeg', ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', ...args], {
      cwd: folder,
      env: { ...process.env, SVT_LOG: '1' },
    });
  };
  await makeLong(folder, ffmpeg);
  await makeShort(folder, ffmpeg);
}

/** Creates media of four seconds, which tests download and interrupt. */
async function makeLong(folder: string, ffmpeg: Ffmpeg): Promise<void> {
  await ffmpeg(...tone(seconds), '-c:a', 'aac', '-b:a', '96k', 'aud.m4a');
  for (const height of heights) {
    await ffmpeg(...picture(height, seconds), ...h264, `v${height}.mp4`);
    await ffmpeg('-i', `v${height}.mp4`, '-i', 'aud.m4a', '-c', 'copy', ...faststart, `ladder${height}.mp4`);
    await ffmpeg('-i', `v${height}.mp4`, '-c', 'copy', ...hls('hls', `v${height}`));
    await rm(join(folder, `v${height}.mp4`));
  }
  await ffmpeg('-i', 'aud.m4a', '-c', 'copy', ...hls('hls', 'aud'));
  await rename(join(folder, 'ladder360.mp4'), join(folder, 'single.mp4'));
  // Large for its duration, so that a slowed transfer can be interrupted.
  await ffmpeg(
    ...picture(720, seconds, 25),
    '-i',
    'aud.m4a',
    ...h264,
    '-b:v',
    '6M',
    '-minrate',
    '6M',
    '-bufsize',
    '6M',
    '-x264-params',
    'nal-hrd=cbr',
    '-c:a',
    'copy',
    ...faststart,
    'big.mp4',
  );
  await ffmpeg(
    ...picture(360, seconds),
    '-i',
    'aud.m4a',
    '-c:v',
    'libvpx-vp9',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-c:a',
    'libopus',
    'vp9.webm',
  );
  // Creates a file with the index at its end, and one that MP4 cannot contain.
  await ffmpeg('-i', 'single.mp4', '-c', 'copy', 'end.mp4');
  await ffmpeg(
    ...picture(360, shortSeconds),
    ...tone(shortSeconds),
    '-c:v',
    'libvpx',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-c:a',
    'libvorbis',
    'vp8.webm',
  );
  await ffmpeg('-i', 'single.mp4', '-frames:v', '1', 'cover.jpg');
  await ffmpeg('-i', 'single.mp4', '-frames:v', '1', 'cover.png');
  // Sets a key frame every half second, so that the file can be cut at any requested position.
  await ffmpeg(...picture(360, 6), ...tone(6), ...h264, '-g', '5', '-c:a', 'aac', ...faststart, 'chapters.mp4');
  await writeFile(join(folder, 'hls', 'master.m3u8'), masterPlaylist(seconds, ''));
}

/** Creates media of one second: several resolutions, an HLS and a DASH manifest, and one with several codecs. */
async function makeShort(folder: string, ffmpeg: Ffmpeg): Promise<void> {
  const toPath = (name: string): string => join(folder, 'short', name);
  await ffmpeg(...tone(shortSeconds), '-c:a', 'aac', '-b:a', '64k', 'short/aud.m4a');
  for (const height of heights) {
    const video = `short/v${height}.mp4`;
    await ffmpeg(...picture(height, shortSeconds, 5), ...h264, video);
    await ffmpeg('-i', video, '-i', 'short/aud.m4a', '-c', 'copy', ...faststart, `short/${height}.mp4`);
    await ffmpeg('-i', video, '-c', 'copy', ...hls('short', `v${height}`));
  }
  await ffmpeg('-i', 'short/aud.m4a', '-c', 'copy', ...hls('short', 'aud'));
  for (const [language, text] of Object.entries(captions)) {
    await writeFile(
      toPath(`${language}.vtt`),
      `WEBVTT\n\n00:00.100 --> 00:00.400\n${text}\n\n00:00.500 --> 00:00.900\n…\n`,
    );
    await writeFile(toPath(`${language}.m3u8`), mediaPlaylist(`${language}.vtt`));
  }
  await writeFile(toPath('master.m3u8'), masterPlaylist(shortSeconds, 'captions'));
  await dash(
    folder,
    ffmpeg,
    'manifest',
    dashHeights.map((height) => `v${height}.mp4`),
  );
  for (const [codec, encoder] of Object.entries(otherCodecs)) {
    await ffmpeg(...picture(360, shortSeconds, 5), '-pix_fmt', 'yuv420p', ...encoder, `short/${codec}.mp4`);
  }
  await dash(folder, ffmpeg, 'codecs', ['v360.mp4', ...Object.keys(otherCodecs).map((codec) => `${codec}.mp4`)]);
}

/** Writes a manifest of these videos, the audio and captions in two languages. */
async function dash(folder: string, ffmpeg: Ffmpeg, name: string, videos: readonly string[]): Promise<void> {
  const inputs = [...videos, 'aud.m4a'].flatMap((file) => ['-i', `short/${file}`]);
  const maps = [...videos, 'aud.m4a'].flatMap((_, index) => ['-map', String(index)]);
  const sets = `id=0,streams=v id=1,streams=a`;
  await ffmpeg(
    ...inputs,
    ...maps,
    '-c',
    'copy',
    '-f',
    'dash',
    '-adaptation_sets',
    sets,
    '-dash_segment_type',
    'mp4',
    '-init_seg_name',
    `${name}-$RepresentationID$-init.m4s`,
    '-media_seg_name',
    `${name}-$RepresentationID$-$Number$.m4s`,
    `short/${name}.mpd`,
  );
  const path = join(folder, 'short', `${name}.mpd`);
  const texts = ['en', 'es'].map(
    (language, index) =>
      `<AdaptationSet id="${index + 2}" contentType="text" mimeType="text/vtt" lang="${language}">` +
      `<Representation id="text-${language}" bandwidth="1"><BaseURL>${language}.vtt</BaseURL></Representation></AdaptationSet>`,
  );
  const manifest = await readFile(path, 'utf8');
  await writeFile(path, manifest.replace('</Period>', `${texts.join('')}</Period>`));
}

function picture(height: number, duration: number, rate = 10): string[] {
  return ['-f', 'lavfi', '-i', `testsrc2=size=${width(height)}x${height}:rate=${rate}:duration=${duration}`];
}

function tone(duration: number): string[] {
  return ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${duration}`];
}

/** Returns a 16:9 width that is even, as the codec requires. */
function width(height: number): number {
  return Math.round((height * 8) / 9) * 2;
}

function hls(folder: string, name: string): string[] {
  const segments = ['-hls_segment_filename', `${folder}/${name}-%d.ts`];
  return ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', ...segments, `${folder}/${name}.m3u8`];
}

function mediaPlaylist(segment: string): string {
  const head = '#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:VOD\n';
  return `${head}#EXTINF:1.0,\n${segment}\n#EXT-X-ENDLIST\n`;
}

/** Writes a manifest with separate video and audio, and captions in three languages if a group is named. */
function masterPlaylist(duration: number, group: string): string {
  const rungs = heights.map((height) => {
    const traits = [
      `BANDWIDTH=${height * 500 * duration}`,
      `RESOLUTION=${width(height)}x${height}`,
      'CODECS="avc1.42c01e,mp4a.40.2"',
      'AUDIO="aud"',
      ...(group === '' ? [] : [`SUBTITLES="${group}"`]),
    ];
    return `#EXT-X-STREAM-INF:${traits.join(',')}\nv${height}.m3u8\n`;
  });
  const texts = Object.keys(group === '' ? {} : captions).map(
    (language) =>
      `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="${group}",NAME="${language}",LANGUAGE="${language}",URI="${language}.m3u8"\n`,
  );
  const audio = '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aud",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="aud.m3u8"\n';
  return `#EXTM3U\n#EXT-X-VERSION:4\n${audio}${texts.join('')}${rungs.join('')}`;
}
