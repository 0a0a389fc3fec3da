import { momentOf } from '../domain/time-position.ts';
import { codecs, downloadTypes, formats, qualitiesOf, type DownloadType, type Order } from '../domain/order.ts';
import { bad, isEmpty, list, lower, oneOf, readText, type Fields } from './fields.ts';
import { readOverrides, readPresets } from './options.ts';
import { readOptions } from './media-options.ts';

export { bad } from './fields.ts';

/** What `/add` was asked for. */
export interface AddRequest {
  readonly url: string;
  readonly order: Order;
}

/** What stands in where a request of the old kind says nothing. */
export interface AddDefaults {
  readonly quality: string;
  readonly format: string;
  readonly chapterTemplate: string;
  /** Files that every Apple device plays, where no format is named. */
  readonly iosFormat: boolean;
  /** Most entries of a playlist that are taken, 0: all. */
  readonly playlistItemLimit: number;
  /** By their names. */
  readonly ytdlPresets: Readonly<Record<string, unknown>>;
  readonly allowOptionsOverrides: boolean;
}

const longestAddress = 8192;

/**
 * Reads the body of `POST /add` in the peer's new schema or, told by the absence of `download_type`, in its old one,
 * which most clients still send. Unknown fields are ignored. @throws Problem 400 with the peer's own sentence.
 */
export function readAdd(body: Fields, defaults: AddDefaults): AddRequest {
  const url = typeof body['url'] === 'string' ? body['url'].trim() : '';
  const fields =
    body['download_type'] === undefined || body['download_type'] === null ? fromOldSchema(body, defaults) : body;
  if (url === '' || isEmpty(fields['download_type']) || isEmpty(fields['quality'])) {
    throw bad(`missing 'url', 'download_type', or 'quality'`);
  }
  if (url.length > longestAddress) throw bad(`url must have at most ${longestAddress} characters`);
  const type = oneOf(fields['download_type'], 'download_type', downloadTypes);
  // The peer takes the codec for video alone.
  const codec = type === 'video' ? oneOf(isEmpty(fields['codec']) ? 'auto' : fields['codec'], 'codec', codecs) : 'auto';
  const format = readFormat(type, fields['format']);
  const quality = readQuality(type, format, fields['quality']);
  const options = readOptions(body, type, defaults);
  const moment = type === 'video' || type === 'audio' ? momentOf(url) : undefined;
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
      // As the peer: anything but true (or nothing) means "not yet".
      autoStart: body['auto_start'] === undefined || body['auto_start'] === null || body['auto_start'] === true,
      login: null,
      secrets: null,
      ...options,
      // A link to a moment of a video is taken as asking to begin there.
      ...(options.clipStart === null && moment !== undefined ? { clipStart: moment } : {}),
      presets: readPresets(body, defaults),
      overrides: readOverrides(body, defaults),
    },
  };
}

/** The fields of a request for the same, but for its address and login. */
export function fromOrder(order: Order): Fields {
  return {
    ...{ download_type: order.type, codec: order.codec, format: order.format, quality: order.quality },
    ...{ folder: order.folder, custom_name_prefix: order.prefix, playlist_item_limit: order.itemLimit },
    ...{ auto_start: order.autoStart, split_by_chapters: order.splitByChapters, sponsorblock: order.sponsorblock },
    ...{ chapter_template: order.chapterTemplate, subtitle_language: order.subtitleLanguage },
    ...{ subtitle_mode: order.subtitleMode, clip_start: order.clipStart, clip_end: order.clipEnd },
    ...{ ytdl_options_presets: order.presets, ytdl_options_overrides: order.overrides },
  };
}

const audioOnly = new Set(['audio', 'audio only', 'audio_only']);

function fromOldSchema(body: Fields, defaults: AddDefaults): Fields {
  const quality = lower(body['quality']) || defaults.quality;
  const format = lower(body['format']) || defaultFormat(defaults);
  const codec = body['video_codec'];
  if (formats.audio.includes(format)) return { download_type: 'audio', format, quality: audioQuality(quality, format) };
  if (format === 'thumbnail') return { download_type: 'thumbnail', format: 'jpg', quality: 'best' };
  if (format === 'captions') {
    return { download_type: 'captions', format: lower(body['subtitle_format']) || 'srt', quality: 'best' };
  }
  if (quality === 'best_ios') return { download_type: 'video', codec, format: 'ios', quality: 'best' };
  if (audioOnly.has(quality)) return { download_type: 'audio', format: 'm4a', quality: 'best' };
  return { download_type: 'video', codec, format, quality };
}

/** Whoever has set a format of sound as the usual one means it. */
function defaultFormat({ format, iosFormat }: AddDefaults): string {
  return iosFormat && !formats.audio.includes(format) ? 'ios' : format;
}

/** Someone who asks for "720, mp3" wants the sound; the picture's height says nothing about it. */
function audioQuality(quality: string, format: string): string {
  if (qualitiesOf('audio', format).includes(quality)) return quality;
  const ofPicture = audioOnly.has(quality) || qualitiesOf('video', '').includes(withoutSuffix(quality));
  return ofPicture ? 'best' : quality;
}

/** `1080p`, as the specification writes it, is the peer's `1080`. */
function withoutSuffix(quality: string): string {
  return quality.replace(/^(\d+)p$/, '$1');
}

function readFormat(type: DownloadType, value: unknown): string {
  const format = lower(value) || (type === 'captions' ? 'srt' : type === 'thumbnail' ? 'jpg' : '');
  if (!formats[type].includes(format)) throw bad(`format must be one of ${list(formats[type])} for ${type}`);
  return format;
}

function readQuality(type: DownloadType, format: string, value: unknown): string {
  const quality = withoutSuffix(lower(value));
  const qualities = qualitiesOf(type, format);
  if (qualities.includes(quality)) return quality;
  if (type === 'captions' || type === 'thumbnail') return 'best';
  throw bad(`quality must be one of ${list(qualities)} for ${type === 'audio' ? `format ${format}` : type}`);
}

function readLimit(value: unknown, absent: number): number {
  if (isEmpty(value)) return absent;
  const limit = typeof value === 'string' && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit)) throw bad('playlist_item_limit must be an integer');
  return Math.max(0, limit);
}
