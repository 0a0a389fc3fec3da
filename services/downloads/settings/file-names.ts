import * as m from '#messages/downloads-settings';
import { z } from 'zod';
import { chapterTemplate } from '../domain/order.ts';
import { template, optionalTemplate } from './values.ts';

/** Settings of file names, playlists and subscriptions. */
export const fileNameSettings = {
  outputTemplate: template.default('%(title).180B.%(ext)s').meta({
    live: true,
    label: m.outputTemplate,
    help: m.outputTemplateHelp,
  }),
  playlistTemplate: optionalTemplate.default('%(playlist_title)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    label: m.playlistTemplate,
    help: m.playlistTemplateHelp,
  }),
  channelTemplate: optionalTemplate.default('%(channel)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    label: m.channelTemplate,
    help: m.channelTemplateHelp,
  }),
  playlistItemLimit: z.int().min(0).max(1_000_000).default(0).meta({
    live: true,
    label: m.playlistItemLimit,
    help: m.playlistItemLimitHelp,
  }),
  subscriptionInterval: z.int().min(1).max(44_640).default(60).meta({
    live: true,
    unit: 'minutes',
    label: m.subscriptionInterval,
    help: m.subscriptionIntervalHelp,
  }),
  subscriptionScan: z.int().min(1).max(5000).default(50).meta({
    live: true,
    label: m.subscriptionScan,
    help: m.subscriptionScanHelp,
  }),
  chapterTemplate: template.default(chapterTemplate).meta({
    live: true,
    label: m.chapterTemplate,
    help: m.chapterTemplateHelp,
  }),
};
