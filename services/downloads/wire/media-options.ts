import { secondsOf } from '../domain/time-position.ts';
import { chapterTemplate, noWishes, subtitleModes, type DownloadType, type Order } from '../domain/order.ts';
import { templateProblem } from '../domain/template.ts';
import { bad, isEmpty, lower, oneOf, readText, type Fields } from './fields.ts';

/** What of an order goes beyond type, quality and place. */
export type AskedOptions = Pick<
  Order,
  'subtitleLanguage' | 'subtitleMode' | 'splitByChapters' | 'chapterTemplate' | 'sponsorblock' | 'clipStart' | 'clipEnd'
>;

const languageTag = /^[A-Za-z0-9][A-Za-z0-9-]{0,34}$/;

/** Reads captions, chapters and clip of a request, the same in both schemas. @throws Problem 400. */
export function readOptions(
  body: Fields,
  type: DownloadType,
  defaults: { readonly chapterTemplate: string },
): AskedOptions {
  const language = readText(body['subtitle_language'], 'subtitle_language') || noWishes.subtitleLanguage;
  if (!languageTag.test(language)) {
    throw bad('subtitle_language must match pattern [A-Za-z0-9-] and be at most 35 characters');
  }
  const mode = isEmpty(body['subtitle_mode']) ? noWishes.subtitleMode : body['subtitle_mode'];
  const template =
    readText(body['chapter_template'], 'chapter_template') || defaults.chapterTemplate || chapterTemplate;
  const problem = templateProblem(template);
  if (problem !== undefined) throw bad(`chapter_template: ${problem}`);
  return {
    subtitleLanguage: language,
    subtitleMode: oneOf(mode, 'subtitle_mode', subtitleModes),
    splitByChapters: isYes(body['split_by_chapters']),
    chapterTemplate: template,
    sponsorblock: isYes(body['sponsorblock']),
    ...readClip(body, type),
  };
}

function isYes(value: unknown): boolean {
  return value === true || ['true', '1', 'yes', 'on'].includes(lower(value));
}

function readClip(body: Fields, type: DownloadType): Pick<AskedOptions, 'clipStart' | 'clipEnd'> {
  const start = readTime(body['clip_start'], 'clip_start');
  const end = readTime(body['clip_end'], 'clip_end');
  if (start === null && end === null) return { clipStart: null, clipEnd: null };
  if (type !== 'video' && type !== 'audio') throw bad('clip_start and clip_end are for video and audio alone');
  if (end !== null && end <= (start ?? 0)) throw bad('clip_end must be greater than clip_start');
  return { clipStart: start ?? 0, clipEnd: end };
}

function readTime(value: unknown, field: string): number | null {
  if (isEmpty(value)) return null;
  const seconds = typeof value === 'number' ? value : typeof value === 'string' ? secondsOf(value) : undefined;
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0 || seconds > longestClip) {
    throw bad(`${field} must be a time such as 885, 14m45s or 14:45`);
  }
  return seconds;
}

/** A week: nothing that is cut lasts longer. */
const longestClip = 7 * 24 * 3600;
