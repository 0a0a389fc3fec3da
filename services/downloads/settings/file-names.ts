import { z } from 'zod';
import { chapterTemplate } from '../domain/order.ts';
import { template, optionalTemplate } from './values.ts';

/** Settings of file names, playlists and subscriptions. */
export const fileNameSettings = {
  outputTemplate: template.default('%(title).180B.%(ext)s').meta({
    live: true,
    title: 'File name template',
    description: 'yt-dlp output template for file names, relative to the download folder.',
  }),
  playlistTemplate: optionalTemplate.default('%(playlist_title)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    title: 'Playlist file name template',
    description: 'yt-dlp output template for videos in a playlist. Leave empty to use the file name template.',
  }),
  channelTemplate: optionalTemplate.default('%(channel)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    title: 'Channel file name template',
    description: 'yt-dlp output template for videos of a channel. Leave empty to use the file name template.',
  }),
  playlistItemLimit: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .meta({
      live: true,
      title: 'Playlist limit',
      description:
        'Maximum number of videos downloaded from a playlist when the request does not specify one. Set to ' +
        '0 for no limit.',
    }),
  subscriptionInterval: z
    .int()
    .min(1)
    .max(44_640)
    .default(60)
    .meta({
      live: true,
      unit: 'minutes',
      title: 'Subscription check interval',
      description:
        'How often subscribed channels, playlists and feeds are checked for new videos. A subscription can ' +
        'override it.',
    }),
  subscriptionScan: z.int().min(1).max(5000).default(50).meta({
    live: true,
    title: 'Entries checked per subscription',
    description: 'How many of the first entries of a channel, playlist or feed are checked for new videos.',
  }),
  chapterTemplate: template.default(chapterTemplate).meta({
    live: true,
    title: 'Chapter file name template',
    description: 'yt-dlp output template for chapter files when a download is split by chapter.',
  }),
};
