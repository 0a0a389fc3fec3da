import { sortings, type Draft, type DraftCriterion } from './draft.ts';
import { filterKinds, ratingKinds, sortKeys } from './filter-kinds.ts';
import { flagFields, limitFields, rangeFields } from './number-fields.ts';
import { posterServices } from './picture-fields.ts';
import { ruleLists, says, type RulesDraft } from './rules-draft.ts';

// What each part of a configuration says, in one line, while it is folded.

const verbWords = [
  ['excluded', 'hides'],
  ['required', 'only'],
  ['included', 'always'],
  ['preferred', 'prefers'],
] as const;
/** So many values are named. */
const named = 4;

function values(all: readonly string[], names: Readonly<Record<string, string>> = {}): string {
  const shown = all.slice(0, all.length > named ? named - 1 : named).map((value) => names[value] ?? value);
  const more = all.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}

function sentence(parts: readonly string[]): string {
  const text = parts.filter((part) => part !== '').join(' · ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Titles as one phrase. */
function phrase(titles: readonly string[]): string {
  return titles.map((title, at) => (at === 0 ? title : title.toLowerCase())).join(', ');
}

/** What is done with the values of one attribute; empty: nothing. */
export function filterWords(name: string, lists: Draft['lists']): string {
  const names = filterKinds.find((kind) => kind.name === name)?.names;
  return sentence(
    verbWords.map(([verb, words]) => {
      const chosen = lists[`${verb}${name}`] ?? [];
      return chosen.length === 0 ? '' : `${words} ${values(chosen, names)}`;
    }),
  );
}

/** Which titles are kept away as a whole; empty: none. */
export function ratingWords(lists: Draft['lists']): string {
  const [hidden = [], shown = []] = ratingKinds.map(({ name }) => lists[name] ?? []);
  const nudity = lists['excludeNudity'] ?? [];
  return sentence([
    hidden.length === 0 ? '' : `hides ${values(hidden)}`,
    shown.length === 0 ? '' : `only ${values(shown)}`,
    nudity.length === 0 ? '' : `hides ${values(nudity)} nudity`,
  ]);
}

/** By which attributes anything is filtered. */
export function filtersWords(lists: Draft['lists']): string {
  const titles = filterKinds.filter(({ name }) => filterWords(name, lists) !== '').map(({ title }) => title);
  if (ratingWords(lists) !== '') titles.push('Age rating and nudity');
  return titles.length === 0 ? 'Nothing is filtered' : phrase(titles);
}

/** What streams are sorted by. */
export function orderWords(criteria: readonly DraftCriterion[]): string {
  if (criteria.length === 0) return sortings.at(-1)?.[1] ?? '';
  const titles = criteria.map(({ key }) => (sortKeys.find(([one]) => one === key)?.[1] ?? key).split(',')[0] ?? key);
  return phrase(titles);
}

/** Sizes and numbers that streams must have. */
export function rangesWords(ranges: Draft['ranges']): string {
  return sentence(
    rangeFields.map(({ path, title, unit }) => {
      const { least = null, most = null } = ranges[path] ?? {};
      if (least === null && most === null) return '';
      const span =
        least === null
          ? `at most ${String(most)}`
          : most === null
            ? `at least ${String(least)}`
            : `${String(least)} to ${String(most)}`;
      return unit === title.toLowerCase() ? `${span} ${unit}` : `${title.toLowerCase()} ${span} ${unit}`;
    }),
  );
}

/** How many streams are listed. */
export function limitsWords(limits: Draft['limits']): string {
  return sentence(
    limitFields.map(([path, title]) => {
      const limit = limits[path] ?? null;
      return limit === null ? '' : `${String(limit)} ${title.toLowerCase()}`;
    }),
  );
}

/** What else is switched on. */
export function flagsWords(flags: Draft['flags']): string {
  const on = flagFields.filter(([path]) => flags[path]).map(([, title]) => title);
  return on.length <= 1 ? (on[0] ?? '') : `${String(on.length)} chosen`;
}

/** Sizes, numbers and switches together. */
export function numbersWords({ ranges, limits, flags }: Draft): string {
  return [rangesWords(ranges), limitsWords(limits), flagsWords(flags)].filter(Boolean).join(' · ') || 'No limits';
}

/** How many expressions a list has; empty: none. */
export function rulesWords(rules: RulesDraft['lists'][string] = []): string {
  const count = rules.filter(says).length;
  return count === 0 ? '' : count === 1 ? '1 expression' : `${String(count)} expressions`;
}

/** What all expressions together do. */
export function expressionsWords(lists: RulesDraft['lists']): string {
  const parts = ruleLists.flatMap(([name, title]) => {
    const words = rulesWords(lists[name]);
    return words === '' ? [] : [`${title.split(',')[0]?.toLowerCase() ?? ''}: ${words}`];
  });
  return parts.length === 0 ? 'None' : sentence(parts);
}

/** Which addons are asked together. */
export function groupsWords({ enabled, sequential, list }: RulesDraft['groups']): string {
  if (list.length === 0) return 'All addons are asked at once';
  const count = list.length === 1 ? '1 group' : `${String(list.length)} groups`;
  return `${count}, ${!enabled ? 'not used' : sequential ? 'asked one after the other' : 'asked at once'}`;
}

/** How catalogs are listed. */
export function catalogsWords(changes: Draft['catalogs']): string {
  if (changes.length === 0) return 'As the addons have them';
  const hidden = changes.filter(({ enabled }) => !enabled).length;
  return `In your order${hidden === 0 ? '' : `, ${String(hidden)} hidden`}`;
}

/** The names of things that somebody made. */
export function namesWords(names: readonly string[]): string {
  return names.length === 0 ? 'None' : values(names);
}

/** Where posters and facts are from. */
export function picturesWords(service: string, texts: Draft['texts']): string {
  const posters = posterServices.find(([id]) => id === service && id !== 'none')?.[1] ?? 'As the addons have them';
  return [posters, texts['tmdbApiKey'] ? 'The Movie Database' : ''].filter(Boolean).join(' · ');
}

const formatNames: Readonly<Record<string, string>> = {
  torrentio: 'Torrentio',
  torbox: 'TorBox',
  gdrive: 'Google Drive',
  lightgdrive: 'Light Google Drive',
  minimalisticgdrive: 'Minimalistic Google Drive',
  prism: 'Prism',
  tamtaro: 'Tamtaro',
  custom: 'Your own texts',
};

/** How a format is called. */
export function formatName(id: string): string {
  return formatNames[id] ?? id;
}
