import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';
import type { Removal } from '../removal.ts';
import { appliesToAddon, appliesToRequest, type RuleScope } from './scope.ts';
import { getSimilarity } from './similarity.ts';
import { normalizeTitle, type TitleRequest } from '../title-request.ts';

type Rule = (stream: ParsedStream) => Removal | undefined;

/** Compiles the rules that compare title, year and episode with the request, if the configuration enables them. */
export function createMatchRules(config: AddonConfig, titleRequest: TitleRequest): readonly Rule[] {
  const { titleMatching, yearMatching, seasonEpisodeMatching } = config;
  const rules: Rule[] = [];
  const addRule = (scope: RuleScope | null | undefined, rule: Rule): void => {
    if (appliesToRequest(scope, titleRequest))
      rules.push((stream) => (appliesToAddon(scope, stream.addon) ? rule(stream) : undefined));
  };
  addRule(titleMatching, createTitleRule(titleMatching, titleRequest));
  // Older configurations store the year options with the title options.
  if (titleMatching?.matchYear === true)
    addRule(titleMatching, createYearRule({ tolerance: titleMatching.yearTolerance }, titleRequest));
  addRule(yearMatching, createYearRule(yearMatching, titleRequest));
  addRule(seasonEpisodeMatching, createEpisodeRule(seasonEpisodeMatching?.strict === true, titleRequest));
  return rules;
}

function createTitleRule(options: AddonConfig['titleMatching'], { titles }: TitleRequest): Rule {
  const normalizedTitles = titles.map(normalizeTitle).filter((title) => title !== '');
  const threshold = options?.similarityThreshold ?? 1;
  const resultsByTitle = new Map<string, boolean>();
  const isMatch = (title: string): boolean =>
    normalizedTitles.some(
      (normalizedTitle) =>
        title === normalizedTitle ||
        (options?.mode === 'contains' && (title.includes(normalizedTitle) || normalizedTitle.includes(title))) ||
        (threshold < 1 && getSimilarity(title, normalizedTitle) >= threshold),
    );
  return ({ file }) => {
    if (normalizedTitles.length === 0 || file.title === undefined) return undefined;
    const isMatching = resultsByTitle.get(file.title) ?? isMatch(normalizeTitle(file.title));
    resultsByTitle.set(file.title, isMatching);
    return isMatching ? undefined : { rule: 'Title Matching', value: file.title };
  };
}

interface YearOptions {
  readonly tolerance?: number | null | undefined;
  readonly strict?: boolean | null | undefined;
  readonly useInitialAirDate?: boolean | null | undefined;
}

/** Matches the year. Releases of a series may name any year between its first and last one. */
function createYearRule(options: YearOptions | null | undefined, { type, year, facts }: TitleRequest): Rule {
  const tolerance = options?.tolerance ?? 1;
  const isSeries = type !== 'movie';
  const lastYear = isSeries && options?.useInitialAirDate !== true ? (facts?.yearEnd ?? Infinity) : year;
  return ({ file }) => {
    if (year === undefined || lastYear === undefined) return undefined;
    const rule = 'Year Matching';
    if (file.year === undefined)
      return options?.strict === true ? { rule, value: 'no year', note: 'no_year' } : undefined;
    const [from = year, to = from] = file.year.split('-').map(Number);
    return to < year - tolerance || from > lastYear + tolerance ? { rule, value: file.year } : undefined;
  };
}

function createEpisodeRule(strict: boolean, titleRequest: TitleRequest): Rule {
  return ({ file }) => {
    if (titleRequest.type === 'movie') return undefined;
    const { seasons = [], episodes = [] } = file;
    const rule = 'Season/Episode Matching';
    if (titleRequest.season !== undefined) {
      if (seasons.length > 0 && !seasons.includes(titleRequest.season))
        return { rule, value: `S${String(seasons[0])}` };
      if (strict && seasons.length === 0 && episodes.length === 0)
        return { rule, value: 'no season', note: 'no_season' };
    }
    if (titleRequest.episode !== undefined && episodes.length > 0 && !episodes.includes(titleRequest.episode))
      return { rule, value: `E${String(episodes[0])}` };
    return undefined;
  };
}
