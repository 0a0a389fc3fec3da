import type { Order } from './order.ts';

/** Where sponsors' segments are asked for, and which kinds of them are left out. */
export interface SponsorBlock {
  readonly api: string;
  readonly categories: readonly string[];
}

/**
 * The extractor's options for parts of a video: a clip of it, a file for each chapter, all but the advertising. A clip
 * begins at the key frame before its start, since nothing is encoded anew for it.
 */
export function cutArguments(
  order: Order,
  {
    template,
    folder,
    sponsorblock,
  }: {
    /** Of the chapters' files, filled as far as only we can. */
    readonly template: string;
    /** Where the chapters' files go. */
    readonly folder: string;
    readonly sponsorblock: SponsorBlock;
  },
): readonly string[] {
  const { type, clipStart, clipEnd, splitByChapters } = order;
  if (type !== 'video' && type !== 'audio') return [];
  const clip = clipStart === null && clipEnd === null ? [] : [`*${clipStart ?? 0}-${clipEnd ?? 'inf'}`];
  return [
    ...clip.flatMap((section) => ['--download-sections', section]),
    ...(splitByChapters ? ['--split-chapters', '-o', `chapter:${template}`, '-P', `chapter:${folder}`] : []),
    ...(order.sponsorblock && sponsorblock.categories.length > 0
      ? ['--sponsorblock-remove', sponsorblock.categories.join(','), '--sponsorblock-api', sponsorblock.api]
      : []),
  ];
}
