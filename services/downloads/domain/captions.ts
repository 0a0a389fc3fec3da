import type { Order, SubtitleMode } from './order.ts';

/** The captions that a site has, by language: the formats of each. Written by people, and by a machine. */
export interface KnownCaptions {
  readonly manual: Readonly<Record<string, readonly string[]>>;
  readonly automatic: Readonly<Record<string, readonly string[]>>;
}

/** What of it is to be fetched, and how. */
export interface CaptionsChoice {
  /** As the site writes it: `en` may be `en-GB` there. */
  readonly language: string;
  readonly from: readonly Origin[];
  /** The site has it in the format that is wanted. */
  readonly native: boolean;
}

type Origin = 'manual' | 'automatic';

const origins: Readonly<Record<SubtitleMode, readonly Origin[]>> = {
  manual_only: ['manual'],
  auto_only: ['automatic'],
  prefer_manual: ['manual', 'automatic'],
  prefer_auto: ['automatic', 'manual'],
};

/** Formats that the extractor itself makes of others, with ffmpeg; ours are made of WebVTT, see cues.ts. */
const convertible = new Set(['srt', 'vtt']);

/** The captions that a request for them alone means; without knowing the site's, what it says. Undefined: there are none. */
export function chooseCaptions(
  { subtitleLanguage: wanted, subtitleMode, format }: Order,
  known: KnownCaptions | undefined,
): CaptionsChoice | undefined {
  if (known === undefined) return { language: wanted, from: origins[subtitleMode], native: false };
  for (const origin of origins[subtitleMode]) {
    const language = bestMatch(Object.keys(known[origin]), wanted);
    if (language === undefined) continue;
    return { language, from: [origin], native: known[origin][language]?.includes(format) === true };
  }
  return undefined;
}

/** `en` before `en-GB` before `en-orig`, whatever their case. */
function bestMatch(languages: readonly string[], wanted: string): string | undefined {
  const plain = wanted.toLowerCase();
  const fitting = languages.filter((each) => `${each.toLowerCase()}-`.startsWith(`${plain}-`));
  return fitting.find((each) => each.toLowerCase() === plain) ?? fitting[0];
}

/** Why there is nothing to fetch, for a person. */
export function noCaptions({ subtitleLanguage, subtitleMode }: Order, known: KnownCaptions): string {
  const kinds: Readonly<Record<Origin, string>> = { manual: 'written', automatic: 'automatic' };
  const there = (['manual', 'automatic'] as const)
    .map((origin) => ({ origin, languages: Object.keys(known[origin]).slice(0, 20) }))
    .filter(({ languages }) => languages.length > 0)
    .map(({ origin, languages }) => `${kinds[origin]}: ${languages.join(', ')}`);
  const [only, ...more] = origins[subtitleMode];
  const kind = only === undefined || more.length > 0 ? '' : `${kinds[only]} `;
  const others = there.length === 0 ? 'The site has none at all.' : `The site has ${there.join('; ')}.`;
  return `There are no ${kind}captions in "${subtitleLanguage}". ${others}`;
}

/**
 * The extractor's options for captions alone. What is no SRT or WebVTT comes as WebVTT, unless the site has it. Without
 * ffmpeg (`convert` false) it comes as the site has it.
 */
export function captionsArguments(
  format: string,
  { language, from, native }: CaptionsChoice,
  { convert }: { readonly convert: boolean },
): readonly string[] {
  const fetched = native || convertible.has(format) ? format : 'vtt';
  return [
    '--skip-download',
    ...(from.includes('manual') ? ['--write-subs'] : []),
    ...(from.includes('automatic') ? ['--write-auto-subs'] : []),
    ...['--sub-langs', escaped(language), '--sub-format', `${fetched}/vtt/srt/best`],
    ...(!convert || (native && !convertible.has(format)) ? [] : ['--convert-subs', fetched]),
  ];
}

/** Languages are patterns to the extractor. */
function escaped(language: string): string {
  return language.replaceAll(/[^A-Za-z0-9-]/g, '.');
}

/** What the settings say about the captions of videos. */
export interface SubtitleOptions {
  /** Languages, or patterns of them. */
  readonly languages: readonly string[];
  /** Inside of the video; else in files beside it. */
  readonly embed: boolean;
  /** Also what a machine has written. */
  readonly automatic: boolean;
}

/** The extractor's options for the captions of a video. AVI has no room for any: they go beside it. */
export function subtitleArguments(format: string, options: SubtitleOptions): readonly string[] {
  if (options.languages.length === 0) return [];
  const automatic = options.automatic ? ['--write-auto-subs'] : [];
  const languages = ['--sub-langs', options.languages.join(',')];
  // WebM takes nothing else.
  if (options.embed && format !== 'avi')
    return ['--embed-subs', ...automatic, ...languages, '--sub-format', 'vtt/srt/best'];
  return ['--write-subs', ...automatic, ...languages, '--sub-format', 'srt/vtt/best', '--convert-subs', 'srt'];
}
