import { parseSeconds } from '../domain/time-position.ts';
import { chapterTemplate, defaultOrderOptions, subtitleModes, type DownloadType, type Order } from '../domain/order.ts';
import { findTemplateProblem } from '../domain/template.ts';
import { createRequestProblem, isEmpty, toLowerText, parseChoice, readText, type Fields } from './fields.ts';

/** Options of an order in addition to type, quality and folder. */
export type MediaOptions = Pick<
  Order,
  'subtitleLanguage' | 'subtitleMode' | 'splitByChapters' | 'chapterTemplate' | 'sponsorblock' | 'clipStart' | 'clipEnd'
>;

const languageTag = /^[A-Za-z0-9][A-Za-z0-9-]{0,34}$/;

/**
 * Reads the options for captions, chapters and clips, equal in both schemas.
 * @throws Problem 400
 */
export function readMediaOptions(
  body: Fields,
  type: DownloadType,
  defaults: { readonly chapterTemplate: string },
): MediaOptions {
  const language = readText(body['subtitle_language'], 'subtitle_language') || defaultOrderOptions.subtitleLanguage;
  if (!languageTag.test(language)) {
    throw createRequestProblem('subtitle_language must match pattern [A-Za-z0-9-] and be at most 35 characters');
  }
  const subtitleMode = isEmpty(body['subtitle_mode']) ? defaultOrderOptions.subtitleMode : body['subtitle_mode'];
  const template =
    readText(body['chapter_template'], 'chapter_template') || defaults.chapterTemplate || chapterTemplate;
  const problem = findTemplateProblem(template);
  if (problem !== undefined) throw createRequestProblem(`chapter_template: ${problem}`);
  return {
    subtitleLanguage: language,
    subtitleMode: parseChoice(subtitleMode, 'subtitle_mode', subtitleModes),
    splitByChapters: isTrue(body['split_by_chapters']),
    chapterTemplate: template,
    sponsorblock: isTrue(body['sponsorblock']),
    ...readClip(body, type),
  };
}

function isTrue(value: unknown): boolean {
  return value === true || ['true', '1', 'yes', 'on'].includes(toLowerText(value));
}

function readClip(body: Fields, type: DownloadType): Pick<MediaOptions, 'clipStart' | 'clipEnd'> {
  const start = readTime(body['clip_start'], 'clip_start');
  const end = readTime(body['clip_end'], 'clip_end');
  if (start === null && end === null) return { clipStart: null, clipEnd: null };
  if (type !== 'video' && type !== 'audio')
    throw createRequestProblem('clip_start and clip_end are for video and audio alone');
  if (end !== null && end <= (start ?? 0)) throw createRequestProblem('clip_end must be greater than clip_start');
  return { clipStart: start ?? 0, clipEnd: end };
}

function readTime(value: unknown, field: string): number | null {
  if (isEmpty(value)) return null;
  const seconds = typeof value === 'number' ? value : typeof value === 'string' ? parseSeconds(value) : undefined;
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0 || seconds > maxClipSeconds) {
    throw createRequestProblem(`${field} must be a time such as 885, 14m45s or 14:45`);
  }
  return seconds;
}

/** Latest end of a clip: one week. */
const maxClipSeconds = 7 * 24 * 3600;
