import { sortPresets, type Draft, type DraftCriterion } from './configuration-draft.ts';
import { filterKinds, ratingKinds, sortKeys } from './filter-kinds.ts';
import { flagFields, limitFields, rangeFields } from './number-fields.ts';
import { posterServices } from './picture-fields.ts';
import { ruleLists, hasText, type RulesDraft } from './rules-draft.ts';

// Summaries of the sections of a configuration in one line, shown while they are collapsed.

const verbLabels = [
  ['excluded', 'hides'],
  ['required', 'only'],
  ['included', 'always'],
  ['preferred', 'prefers'],
] as const;
/** Maximum number of values in a summary. */
const maxNamedValues = 4;

function joinValues(items: readonly string[], names: Readonly<Record<string, string>> = {}): string {
  const visible = items
    .slice(0, items.length > maxNamedValues ? maxNamedValues - 1 : maxNamedValues)
    .map((value) => names[value] ?? value);
  const more = items.length - visible.length;
  return visible.join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}

function joinParts(parts: readonly string[]): string {
  const text = parts.filter((part) => part !== '').join(' · ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Joins titles to one phrase. */
function joinTitles(titles: readonly string[]): string {
  return titles.map((title, index) => (index === 0 ? title : title.toLowerCase())).join(', ');
}

/** Describes the filter of one attribute; empty without a filter. */
export function describeFilter(name: string, lists: Draft['lists']): string {
  const names = filterKinds.find((kind) => kind.name === name)?.names;
  return joinParts(
    verbLabels.map(([verb, label]) => {
      const chosen = lists[`${verb}${name}`] ?? [];
      return chosen.length === 0 ? '' : `${label} ${joinValues(chosen, names)}`;
    }),
  );
}

/** Describes the filters for whole titles; empty without a filter. */
export function describeRatings(lists: Draft['lists']): string {
  const [hidden = [], visible = []] = ratingKinds.map(({ name }) => lists[name] ?? []);
  const nudity = lists['excludeNudity'] ?? [];
  return joinParts([
    hidden.length === 0 ? '' : `hides ${joinValues(hidden)}`,
    visible.length === 0 ? '' : `only ${joinValues(visible)}`,
    nudity.length === 0 ? '' : `hides ${joinValues(nudity)} nudity`,
  ]);
}

/** Lists the attributes with a filter. */
export function describeFilters(lists: Draft['lists']): string {
  const titles = filterKinds.filter(({ name }) => describeFilter(name, lists) !== '').map(({ title }) => title);
  if (describeRatings(lists) !== '') titles.push('Age rating and nudity');
  return titles.length === 0 ? 'Nothing is filtered' : joinTitles(titles);
}

/** Describes the sort order of streams. */
export function describeOrder(criteria: readonly DraftCriterion[]): string {
  if (criteria.length === 0) return sortPresets.at(-1)?.[1] ?? '';
  const titles = criteria.map(({ key }) => (sortKeys.find(([one]) => one === key)?.[1] ?? key).split(',')[0] ?? key);
  return joinTitles(titles);
}

/** Describes the ranges of sizes and numbers. */
export function describeRanges(ranges: Draft['ranges']): string {
  return joinParts(
    rangeFields.map(({ path, title, unit }) => {
      const { min = null, max = null } = ranges[path] ?? {};
      if (min === null && max === null) return '';
      const span =
        min === null
          ? `at most ${String(max)}`
          : max === null
            ? `at least ${String(min)}`
            : `${String(min)} to ${String(max)}`;
      return unit === title.toLowerCase() ? `${span} ${unit}` : `${title.toLowerCase()} ${span} ${unit}`;
    }),
  );
}

/** Describes the limits of the number of streams. */
export function describeLimits(limits: Draft['limits']): string {
  return joinParts(
    limitFields.map(([path, title]) => {
      const limit = limits[path] ?? null;
      return limit === null ? '' : `${String(limit)} ${title.toLowerCase()}`;
    }),
  );
}

/** Describes the enabled switches. */
export function describeFlags(flags: Draft['flags']): string {
  const on = flagFields.filter(([path]) => flags[path]).map(([, title]) => title);
  return on.length <= 1 ? (on[0] ?? '') : `${String(on.length)} chosen`;
}

/** Describes ranges, limits and switches. */
export function describeNumbers({ ranges, limits, flags }: Draft): string {
  return (
    [describeRanges(ranges), describeLimits(limits), describeFlags(flags)].filter(Boolean).join(' · ') || 'No limits'
  );
}

/** Describes the number of expressions in a list; empty when there are none. */
export function describeRules(rules: RulesDraft['lists'][string] = []): string {
  const count = rules.filter(hasText).length;
  return count === 0 ? '' : count === 1 ? '1 expression' : `${String(count)} expressions`;
}

/** Describes all lists of expressions. */
export function describeExpressions(lists: RulesDraft['lists']): string {
  const parts = ruleLists.flatMap(([name, title]) => {
    const label = describeRules(lists[name]);
    return label === '' ? [] : [`${title.split(',')[0]?.toLowerCase() ?? ''}: ${label}`];
  });
  return parts.length === 0 ? 'None' : joinParts(parts);
}

/** Describes the groups of addons. */
export function describeGroups({ enabled, sequential, list }: RulesDraft['groups']): string {
  if (list.length === 0) return 'All addons are asked at once';
  const count = list.length === 1 ? '1 group' : `${String(list.length)} groups`;
  return `${count}, ${!enabled ? 'not used' : sequential ? 'asked one after the other' : 'asked at once'}`;
}

/** Describes the changes of the catalog list. */
export function describeCatalogs(changes: Draft['catalogs']): string {
  if (changes.length === 0) return 'As the addons have them';
  const hidden = changes.filter(({ enabled }) => !enabled).length;
  return `In your order${hidden === 0 ? '' : `, ${String(hidden)} hidden`}`;
}

/** Describes a list of names. */
export function describeNames(names: readonly string[]): string {
  return names.length === 0 ? 'None' : joinValues(names);
}

/** Describes the sources of posters and metadata. */
export function describePictures(service: string, texts: Draft['texts']): string {
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

/** Returns the label of a format. */
export function getFormatLabel(id: string): string {
  return formatNames[id] ?? id;
}
