import { findStartPosition } from '../domain/time-position.ts';
import { codecs, downloadTypes, formats, getQualities, type DownloadType, type Order } from '../domain/order.ts';
import {
  createRequestProblem,
  isEmpty,
  formatList,
  toLowerText,
  parseChoice,
  readText,
  type Fields,
} from './fields.ts';
import { readOverrides, readPresets } from './options.ts';
import { readMediaOptions } from './media-options.ts';

export { createRequestProblem as bad } from './fields.ts';

/** Parsed request to `/add`. */
export interface AddRequest {
  readonly url: string;
  readonly order: Order;
}

/** Defaults for requests in MeTube's former schema. */
export interface AddDefaults {
  readonly quality: string;
  readonly format: string;
  readonly chapterTemplate: string;
  /** Selects files for Apple devices when no format is given. */
  readonly iosFormat: boolean;
  /** Maximum number of playlist entries; 0 for all. */
  readonly playlistItemLimit: number;
  /** Presets by name. */
  readonly ytdlPresets: Readonly<Record<string, unknown>>;
  readonly allowOptionsOverrides: boolean;
}

const maxAddressLength = 8192;

/**
 * Reads the body of `POST /add` in MeTube's current schema or, without `download_type`, in its former one, which most
 * clients still send. Unknown fields are ignored.
 * @throws Problem 400 with MeTube's message
 */
export function readAdd(body: Fields, defaults: AddDefaults): AddRequest {
  const url = typeof body['url'] === 'string' ? body['url'].trim() : '';
  const fields =
    body['download_type'] === undefined || body['download_type'] === null ? convertFormerSchema(body, defaults) : body;
  if (url === '' || isEmpty(fields['download_type']) || isEmpty(fields['quality'])) {
    throw createRequestProblem(`missing 'url', 'download_type', or 'quality'`);
  }
  if (url.length > maxAddressLength) throw createRequestProblem(`url must have at most ${maxAddressLength} characters`);
  const type = parseChoice(fields['download_type'], 'download_type', downloadTypes);
  // MeTube uses the codec only for videos.
  const codec =
    type === 'video' ? parseChoice(isEmpty(fields['codec']) ? 'auto' : fields['codec'], 'codec', codecs) : 'auto';
  const format = readFormat(type, fields['format']);
  const quality = readQuality(type, format, fields['quality']);
  const options = readMediaOptions(body, type, defaults);
  const startPosition = type === 'video' || type === 'audio' ? findStartPosition(url) : undefined;
  return {
    url,
    order: {
      type,
      codec,
      format,
      quality,
      folder: readText(body['folder'], 'folder') || null,
      prefix: readText(body['custom_name_prefix'], 'custom_name_prefix'),
      itemLimit: readLimit(body['playlist_item_limit'], defaults.playlistItemLimit),
      // As in MeTube, any value except true or a missing one means not to start.
      autoStart: body['auto_start'] === undefined || body['auto_start'] === null || body['auto_start'] === true,
      login: null,
      secrets: null,
      ...options,
      // A link with a start position begins there.
      ...(options.clipStart === null && startPosition !== undefined ? { clipStart: startPosition } : {}),
      presets: readPresets(body, defaults),
      overrides: readOverrides(body, defaults),
    },
  };
}

/** Returns the fields of an equal request, without address and login. */
export function toRequestFields(order: Order): Fields {
  return {
    ...{ download_type: order.type, codec: order.codec, format: order.format, quality: order.quality },
    ...{ folder: order.folder, custom_name_prefix: order.prefix, playlist_item_limit: order.itemLimit },
    ...{ auto_start: order.autoStart, split_by_chapters: order.splitByChapters, sponsorblock: order.sponsorblock },
    ...{ chapter_template: order.chapterTemplate, subtitle_language: order.subtitleLanguage },
    ...{ subtitle_mode: order.subtitleMode, clip_start: order.clipStart, clip_end: order.clipEnd },
    ...{ ytdl_options_presets: order.presets, ytdl_options_overrides: order.overrides },
  };
}

const audioQualityNames = new Set(['audio', 'audio only', 'audio_only']);

function convertFormerSchema(body: Fields, defaults: AddDefaults): Fields {
  const quality = toLowerText(body['quality']) || defaults.quality;
  const format = toLowerText(body['format']) || getDefaultFormat(defaults);
  const codec = body['video_codec'];
  if (formats.audio.includes(format))
    return { download_type: 'audio', format, quality: getAudioQuality(quality, format) };
  if (format === 'thumbnail') return { download_type: 'thumbnail', format: 'jpg', quality: 'best' };
  if (format === 'captions') {
    return { download_type: 'captions', format: toLowerText(body['subtitle_format']) || 'srt', quality: 'best' };
  }
  if (quality === 'best_ios') return { download_type: 'video', codec, format: 'ios', quality: 'best' };
  if (audioQualityNames.has(quality)) return { download_type: 'audio', format: 'm4a', quality: 'best' };
  return { download_type: 'video', codec, format, quality };
}

/** An audio format in the settings has precedence over the format for Apple devices. */
function getDefaultFormat({ format, iosFormat }: AddDefaults): string {
  return iosFormat && !formats.audio.includes(format) ? 'ios' : format;
}

/** A request for "720, mp3" is for audio; the height of the picture does not matter. */
function getAudioQuality(quality: string, format: string): string {
  if (getQualities('audio', format).includes(quality)) return quality;
  const isVideoQuality = audioQualityNames.has(quality) || getQualities('video', '').includes(stripSuffix(quality));
  return isVideoQuality ? 'best' : quality;
}

/** Converts `1080p` to MeTube's `1080`. */
function stripSuffix(quality: string): string {
  return quality.replace(/^(\d+)p$/, '$1');
}

function readFormat(type: DownloadType, value: unknown): string {
  const format = toLowerText(value) || (type === 'captions' ? 'srt' : type === 'thumbnail' ? 'jpg' : '');
  if (!formats[type].includes(format))
    throw createRequestProblem(`format must be one of ${formatList(formats[type])} for ${type}`);
  return format;
}

function readQuality(type: DownloadType, format: string, value: unknown): string {
  const quality = stripSuffix(toLowerText(value));
  const qualities = getQualities(type, format);
  if (qualities.includes(quality)) return quality;
  if (type === 'captions' || type === 'thumbnail') return 'best';
  throw createRequestProblem(
    `quality must be one of ${formatList(qualities)} for ${type === 'audio' ? `format ${format}` : type}`,
  );
}

function readLimit(value: unknown, defaultLimit: number): number {
  if (isEmpty(value)) return defaultLimit;
  const limit = typeof value === 'string' && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit))
    throw createRequestProblem('playlist_item_limit must be an integer');
  return Math.max(0, limit);
}
