import type { FailureParameters } from '../../contracts/downloads/causes.ts';
import type { Order, SubtitleMode } from './order.ts';

/** Captions that a site offers, as formats by language: manual and automatic. */
export interface AvailableCaptions {
  readonly manual: Readonly<Record<string, readonly string[]>>;
  readonly automatic: Readonly<Record<string, readonly string[]>>;
}

/** The captions that are fetched. */
export interface CaptionsChoice {
  /** The language as written by the site: `en` may be `en-GB` there. */
  readonly language: string;
  readonly from: readonly Origin[];
  /** True when the site offers the requested format. */
  readonly native: boolean;
}

type Origin = 'manual' | 'automatic';

const origins: Readonly<Record<SubtitleMode, readonly Origin[]>> = {
  manual_only: ['manual'],
  auto_only: ['automatic'],
  prefer_manual: ['manual', 'automatic'],
  prefer_auto: ['automatic', 'manual'],
};

/** Formats that the extractor converts to with ffmpeg; the others are written from WebVTT, see cues.ts. */
const convertible = new Set(['srt', 'vtt']);

/**
 * Selects the captions for a request. Without the captions of the site, the request is used as it is. Undefined when
 * there are none.
 */
export function chooseCaptions(
  { subtitleLanguage: requestedLanguage, subtitleMode, format }: Order,
  available: AvailableCaptions | undefined,
): CaptionsChoice | undefined {
  if (available === undefined) return { language: requestedLanguage, from: origins[subtitleMode], native: false };
  for (const origin of origins[subtitleMode]) {
    const language = findBestLanguage(Object.keys(available[origin]), requestedLanguage);
    if (language === undefined) continue;
    return { language, from: [origin], native: available[origin][language]?.includes(format) === true };
  }
  return undefined;
}

/** Prefers `en` over `en-GB` and `en-orig`, case-insensitively. */
function findBestLanguage(languages: readonly string[], requestedLanguage: string): string | undefined {
  const lowerCase = requestedLanguage.toLowerCase();
  const matches = languages.filter((each) => `${each.toLowerCase()}-`.startsWith(`${lowerCase}-`));
  return matches.find((each) => each.toLowerCase() === lowerCase) ?? matches[0];
}

/** Maximum number of languages that a message lists, of each kind. */
const maxListedLanguages = 20;

/** Returns the requested captions and the languages that the video has, for the explanation why none are fetched. */
export function listMissingCaptions(
  { subtitleLanguage, subtitleMode }: Order,
  available: AvailableCaptions,
): FailureParameters {
  const language = subtitleLanguage;
  const [firstOrigin, ...otherOrigins] = origins[subtitleMode];
  const kind = firstOrigin === undefined || otherOrigins.length > 0 ? 'any' : firstOrigin;
  const [manual, automatic] = [available.manual, available.automatic].map((captions) =>
    Object.keys(captions).slice(0, maxListedLanguages).join(', '),
  );
  return {
    kind,
    language,
    ...(manual === undefined || manual === '' ? undefined : { manual }),
    ...(automatic === undefined || automatic === '' ? undefined : { automatic }),
  };
}

/**
 * Returns the extractor's options for captions. Formats other than SRT and WebVTT are fetched as WebVTT, unless the
 * site has them. Without ffmpeg (`convert` false), the format of the site is kept.
 */
export function buildCaptionArguments(
  format: string,
  { language, from, native }: CaptionsChoice,
  { convert }: { readonly convert: boolean },
): readonly string[] {
  const fetchFormat = native || convertible.has(format) ? format : 'vtt';
  return [
    '--skip-download',
    ...(from.includes('manual') ? ['--write-subs'] : []),
    ...(from.includes('automatic') ? ['--write-auto-subs'] : []),
    ...['--sub-langs', escapeLanguage(language), '--sub-format', `${fetchFormat}/vtt/srt/best`],
    ...(!convert || (native && !convertible.has(format)) ? [] : ['--convert-subs', fetchFormat]),
  ];
}

/** Escapes a language, which is a pattern for the extractor. */
function escapeLanguage(language: string): string {
  return language.replaceAll(/[^A-Za-z0-9-]/g, '.');
}

/** Caption settings of videos. */
export interface SubtitleOptions {
  /** Languages or patterns. */
  readonly languages: readonly string[];
  /** True to embed them into the video, false for separate files. */
  readonly embed: boolean;
  /** Includes automatic captions. */
  readonly automatic: boolean;
}

/** Returns the extractor's options for the captions of a video. AVI cannot contain any: they are separate files. */
export function buildSubtitleArguments(format: string, options: SubtitleOptions): readonly string[] {
  if (options.languages.length === 0) return [];
  const automatic = options.automatic ? ['--write-auto-subs'] : [];
  const languages = ['--sub-langs', options.languages.join(',')];
  // WebM supports only WebVTT.
  if (options.embed && format !== 'avi')
    return ['--embed-subs', ...automatic, ...languages, '--sub-format', 'vtt/srt/best'];
  return ['--write-subs', ...automatic, ...languages, '--sub-format', 'srt/vtt/best', '--convert-subs', 'srt'];
}
