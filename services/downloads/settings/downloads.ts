import { z } from 'zod';
import { formats, videoQualities } from '../domain/order.ts';

const qualities = [...videoQualities, '2160p', '1440p', '1080p', '720p', '480p', '360p', '240p', 'audio'];
const allFormats = [...new Set([...formats.video, ...formats.audio])];

/** Settings of the queue and the default quality. */
export const downloadSettings = {
  mode: z
    .enum(['sequential', 'concurrent'])
    .default('sequential')
    .meta({
      live: true,
      title: 'Download mode',
      description: 'Runs downloads one after another or several at the same time.',
      choices: { sequential: 'Sequential', concurrent: 'Concurrent' },
    }),
  maxConcurrent: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta({
      live: true,
      needs: { mode: ['concurrent'] },
      title: 'Concurrent downloads',
      description:
        'Maximum number of downloads that run at the same time in concurrent mode, including downloads ' +
        'whose file is being converted.',
    }),
  quality: z
    .enum(qualities)
    .default('best')
    .meta({
      live: true,
      title: 'Quality',
      description:
        'Quality of downloads from extensions, apps and scripts that do not specify one. A resolution is ' +
        'an upper limit: 1080p selects the best quality up to 1080p.',
      choices: {
        best: 'Best',
        '2160p': '2160p (4K)',
        '1440p': '1440p',
        '1080p': '1080p',
        '720p': '720p',
        '480p': '480p',
        '360p': '360p',
        '240p': '240p',
        worst: 'Smallest file',
        audio: 'Audio only',
      },
    }),
  format: z
    .enum(allFormats)
    .default('mp4')
    .meta({
      live: true,
      title: 'Format',
      description: 'Format of downloads from extensions, apps and scripts that do not specify one.',
      choices: {
        any: 'Original',
        mp4: 'MP4',
        ios: 'MP4 for Apple devices',
        webm: 'WebM',
        mkv: 'MKV',
        avi: 'AVI',
        m4a: 'M4A (audio only)',
        mp3: 'MP3',
        opus: 'Opus',
        ogg: 'Ogg',
        flac: 'FLAC',
        wav: 'WAV',
      },
    }),
};
