import type { Order } from './order.ts';

/** SponsorBlock server, and the segment categories that are removed. */
export interface SponsorBlock {
  readonly api: string;
  readonly categories: readonly string[];
}

/**
 * Returns the extractor's options for parts of a video: a clip, a file for each chapter, or everything without
 * sponsored segments. A clip begins at the key frame before its start, since nothing is re-encoded.
 */
export function buildSectionArguments(
  order: Order,
  {
    template,
    folder,
    sponsorblock,
  }: {
    /** File name template of chapters, with the fields filled that yt-dlp does not support. */
    readonly template: string;
    /** Folder of the chapter files. */
    readonly folder: string;
    readonly sponsorblock: SponsorBlock;
  },
): readonly string[] {
  const { type, clipStart, clipEnd, splitByChapters } = order;
  if (type !== 'video' && type !== 'audio') return [];
  const sections = clipStart === null && clipEnd === null ? [] : [`*${clipStart ?? 0}-${clipEnd ?? 'inf'}`];
  return [
    ...sections.flatMap((section) => ['--download-sections', section]),
    ...(splitByChapters ? ['--split-chapters', '-o', `chapter:${template}`, '-P', `chapter:${folder}`] : []),
    ...(order.sponsorblock && sponsorblock.categories.length > 0
      ? ['--sponsorblock-remove', sponsorblock.categories.join(','), '--sponsorblock-api', sponsorblock.api]
      : []),
  ];
}
