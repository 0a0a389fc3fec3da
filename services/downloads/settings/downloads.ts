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
      description: 'Whether each waits for the one before it.',
      choices: { sequential: 'One after another', concurrent: 'Several at once' },
    }),
  maxConcurrent: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta({
      live: true,
      needs: { mode: ['concurrent'] },
      title: 'Downloads at once',
      description:
        'Counts only in the mode “Several at once”: how many run at the same time. Converting a finished file counts too.',
    }),
  quality: z
    .enum(qualities)
    .default('best')
    .meta({
      live: true,
      title: 'Quality',
      description:
        'For links from extensions, apps and scripts that name no quality. 1080p means at most 1080p: if ' +
        'there is only less, that is taken.',
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
        audio: 'Sound only',
      },
    }),
  format: z
    .enum(allFormats)
    .default('mp4')
    .meta({
      live: true,
      title: 'Format',
      description: 'For links from extensions, apps and scripts that name no format.',
      choices: {
        any: 'As the site has it',
        mp4: 'MP4',
        ios: 'MP4 for Apple devices',
        webm: 'WebM',
        mkv: 'MKV',
        avi: 'AVI',
        m4a: 'M4A, sound only',
        mp3: 'MP3',
        opus: 'Opus',
        ogg: 'Ogg',
        flac: 'FLAC',
        wav: 'WAV',
      },
    }),
};
