import { z } from 'zod';
import { chapterTemplate } from '../domain/order.ts';
import { template, optionalTemplate } from './values.ts';

/** Settings of file names, playlists and subscriptions. */
export const fileNameSettings = {
  outputTemplate: template.default('%(title).180B.%(ext)s').meta({
    live: true,
    title: 'File name',
    description: 'Template of the file name in the notation of yt-dlp, relative to the download folder.',
  }),
  playlistTemplate: optionalTemplate.default('%(playlist_title)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    title: 'File name in playlists',
    description: 'The same for entries of playlists. Leave empty to name them as any other file.',
  }),
  channelTemplate: optionalTemplate.default('%(channel)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    title: 'File name in channels',
    description: 'The same for what comes from a channel. Leave empty to name it as any other file.',
  }),
  playlistItemLimit: z.int().min(0).max(1_000_000).default(0).meta({
    live: true,
    title: 'Most videos of a playlist',
    description: 'Used where a request names no number of its own. 0: all.',
  }),
  subscriptionInterval: z.int().min(1).max(44_640).default(60).meta({
    live: true,
    unit: 'minutes',
    title: 'Check subscriptions every',
    description: 'How often a channel, playlist or feed is looked at, where it names no time of its own.',
  }),
  subscriptionScan: z.int().min(1).max(5000).default(50).meta({
    live: true,
    title: 'Entries of a subscription to look at',
    description: 'How far from its beginning a channel, playlist or feed is searched for new videos.',
  }),
  chapterTemplate: template.default(chapterTemplate).meta({
    live: true,
    title: 'File name of chapters',
    description: 'The same for the files of chapters, where a download is split into them.',
  }),
};
