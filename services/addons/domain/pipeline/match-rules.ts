import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';
import type { Removal } from './removal.ts';
import { isAboutAddon, isAboutRequest, type RuleScope } from './scope.ts';
import { similarity } from './similarity.ts';
import { plainTitle, type Wanted } from './title-request.ts';

type Rule = (stream: ParsedStream) => Removal | undefined;

/** Compiles the rules that compare title, year and episode with the request, if the configuration enables them. */
export function matchRules(config: AddonConfig, wanted: Wanted): readonly Rule[] {
  const { titleMatching, yearMatching, seasonEpisodeMatching } = config;
  const rules: Rule[] = [];
  const add = (scope: RuleScope | null | undefined, rule: Rule): void => {
    if (isAboutRequest(scope, wanted))
      rules.push((stream) => (isAboutAddon(scope, stream.addon) ? rule(stream) : undefined));
  };
  add(titleMatching, titleRule(titleMatching, wanted));
  // Older configurations store the year options with the title options.
  if (titleMatching?.matchYear === true)
    add(titleMatching, yearRule({ tolerance: titleMatching.yearTolerance }, wanted));
  add(yearMatching, yearRule(yearMatching, wanted));
  add(seasonEpisodeMatching, episodeRule(seasonEpisodeMatching?.strict === true, wanted));
  return rules;
}

function titleRule(options: AddonConfig['titleMatching'], { titles }: Wanted): Rule {
  const wanted = titles.map(plainTitle).filter((title) => title !== '');
  const threshold = options?.similarityThreshold ?? 1;
  const known = new Map<string, boolean>();
  const fits = (title: string): boolean =>
    wanted.some(
      (one) =>
        title === one ||
        (options?.mode === 'contains' && (title.includes(one) || one.includes(title))) ||
        (threshold < 1 && similarity(title, one) >= threshold),
    );
  return ({ file }) => {
    if (wanted.length === 0 || file.title === undefined) return undefined;
    const found = known.get(file.title) ?? fits(plainTitle(file.title));
    known.set(file.title, found);
    return found ? undefined : { rule: 'Title Matching', value: file.title };
  };
}

interface YearOptions {
  readonly tolerance?: number | null | undefined;
  readonly strict?: boolean | null | undefined;
  readonly useInitialAirDate?: boolean | null | undefined;
}

/** Matches the year. Releases of a series may name any year between its first and last one. */
function yearRule(options: YearOptions | null | undefined, { type, year, facts }: Wanted): Rule {
  const tolerance = options?.tolerance ?? 1;
  const isSeries = type !== 'movie';
  const last = isSeries && options?.useInitialAirDate !== true ? (facts?.yearEnd ?? Infinity) : year;
  return ({ file }) => {
    if (year === undefined || last === undefined) return undefined;
    const rule = 'Year Matching';
    if (file.year === undefined) return options?.strict === true ? { rule, value: 'no year' } : undefined;
    const [from = year, to = from] = file.year.split('-').map(Number);
    return to < year - tolerance || from > last + tolerance ? { rule, value: file.year } : undefined;
  };
}

function episodeRule(strict: boolean, wanted: Wanted): Rule {
  return ({ file }) => {
    if (wanted.type === 'movie') return undefined;
    const { seasons = [], episodes = [] } = file;
    const rule = 'Season/Episode Matching';
    if (wanted.season !== undefined) {
      if (seasons.length > 0 && !seasons.includes(wanted.season)) return { rule, value: `S${String(seasons[0])}` };
      if (strict && seasons.length === 0 && episodes.length === 0) return { rule, value: 'no season' };
    }
    if (wanted.episode !== undefined && episodes.length > 0 && !episodes.includes(wanted.episode))
      return { rule, value: `E${String(episodes[0])}` };
    return undefined;
  };
}
