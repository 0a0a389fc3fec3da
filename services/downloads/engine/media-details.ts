import type { MediaDetails } from '../../contracts/downloads/media-details.ts';
import { truncateText } from '../domain/item.ts';
import type { Info, PlaylistEntryInfo } from './probe-result.ts';

/** Extracts the details from the output of a probe, or from an entry of a playlist. */
export function findMediaDetails(
  info: Pick<Info, 'channel' | 'uploader' | 'duration'> | Pick<PlaylistEntryInfo, 'channel' | 'uploader' | 'duration'>,
): MediaDetails {
  const channel = (info.channel ?? info.uploader ?? '').trim();
  const duration = typeof info.duration === 'number' ? info.duration : 0;
  return {
    ...(channel === '' ? {} : { channel: truncateText(channel) }),
    ...(duration > 0 ? { duration } : {}),
  };
}

/** Parses what ffmpeg prints about an input file. Covers of audio files do not count as video. */
export function parseFileDetails(lines: readonly string[]): MediaDetails {
  const durationMatch = /^\s*Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(
    lines.find((line) => /^\s*Duration: /.test(line)) ?? '',
  );
  const [, hours = '0', minutes = '0', seconds = '0'] = durationMatch ?? [];
  const duration = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const streams = lines.filter((line) => /^\s*Stream #/.test(line) && !line.includes('(attached pic)'));
  const video = streams
    .map((line) => /: Video: (\w+).*?[ ,]\d{2,5}x(\d{2,5})\b/.exec(line))
    .find((match) => match !== null);
  const audio = streams.map((line) => /: Audio: (\w+)/.exec(line)).find((match) => match !== null);
  return {
    ...(duration > 0 ? { duration } : {}),
    ...(video?.[1] === undefined ? {} : { videoCodec: video[1], height: Number(video[2]) }),
    ...(audio?.[1] === undefined ? {} : { audioCodec: audio[1] }),
  };
}
