import * as m from '#messages/downloads-settings';
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
      label: m.mode,
      help: m.modeHelp,
      choices: { sequential: m.modeSequential, concurrent: m.modeConcurrent },
    }),
  maxConcurrent: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta({
      live: true,
      needs: { mode: ['concurrent'] },
      label: m.maxConcurrent,
      help: m.maxConcurrentHelp,
    }),
  quality: z
    .enum(qualities)
    .default('best')
    .meta({
      live: true,
      label: m.quality,
      help: m.qualityHelp,
      choices: {
        best: m.qualityBest,
        '2160p': m.qualityN2160p,
        '1440p': m.qualityN1440p,
        '1080p': m.qualityN1080p,
        '720p': m.qualityN720p,
        '480p': m.qualityN480p,
        '360p': m.qualityN360p,
        '240p': m.qualityN240p,
        worst: m.qualityWorst,
        audio: m.qualityAudio,
      },
    }),
  format: z
    .enum(allFormats)
    .default('mp4')
    .meta({
      live: true,
      label: m.format,
      help: m.formatHelp,
      choices: {
        any: m.formatAny,
        mp4: m.formatMp4,
        ios: m.formatIos,
        webm: m.formatWebm,
        mkv: m.formatMkv,
        avi: m.formatAvi,
        m4a: m.formatM4a,
        mp3: m.formatMp3,
        opus: m.formatOpus,
        ogg: m.formatOgg,
        flac: m.formatFlac,
        wav: m.formatWav,
      },
    }),
};
