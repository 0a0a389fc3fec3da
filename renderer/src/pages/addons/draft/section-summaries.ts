import * as m from '#messages/addons-rules';
import { findOwn } from '../../../../../services/contracts/find-own.ts';
import { readText, type Text } from '../../../../../services/contracts/text.ts';
import { formatList } from '../../../../../messages/format.ts';
import { getLocale } from '../../../../../messages/language.ts';
import type { Draft, DraftCriterion } from './configuration-draft.ts';
import { filterKinds, getValueTexts, ratingKinds, sortKeys } from './filter-kinds.ts';
import { flagFields, limitFields, rangeFields } from './number-fields.ts';
import { posterServices } from './picture-fields.ts';
import { ruleLists, hasText, type RulesDraft } from './rules-draft.ts';

// Summaries of the sections of a configuration in one line, shown while they are collapsed.

const verbSummaries = [
  ['excluded', m.excludedSummary],
  ['required', m.requiredSummary],
  ['included', m.includedSummary],
  ['preferred', m.preferredSummary],
] as const;
/** Maximum number of values in a summary. */
const maxNamedValues = 4;

function joinValues(items: readonly string[], names: Readonly<Record<string, string>> = {}): string {
  const visible = items
    .slice(0, items.length > maxNamedValues ? maxNamedValues - 1 : maxNamedValues)
    .map((value) => names[value] ?? value);
  const more = items.length - visible.length;
  const values = formatList(visible, 'unit');
  return more > 0 ? m.valuesAndMore({ values, more }) : values;
}

function joinParts(parts: readonly string[]): string {
  return capitalize(parts.filter((part) => part !== '').join(' · '));
}

function capitalize(text: string): string {
  return text.charAt(0).toLocaleUpperCase(getLocale()) + text.slice(1);
}

/** Joins phrases to a list that starts with a capital letter. */
function joinPhrases(phrases: readonly string[]): string {
  return capitalize(formatList(phrases, 'unit'));
}

/** Describes the filter of one attribute; empty without a filter. */
export function describeFilter(name: string, lists: Draft['lists']): string {
  const names = getValueTexts(filterKinds.find((kind) => kind.name === name)?.names);
  return joinParts(
    verbSummaries.map(([verb, summarize]) => {
      const chosen = lists[`${verb}${name}`] ?? [];
      return chosen.length === 0 ? '' : summarize({ values: joinValues(chosen, names) });
    }),
  );
}

/** Describes the filters for whole titles; empty without a filter. */
export function describeRatings(lists: Draft['lists']): string {
  const [hidden = [], visible = []] = ratingKinds.map(({ name }) => lists[name] ?? []);
  const nudity = lists['excludeNudity'] ?? [];
  return joinParts([
    hidden.length === 0 ? '' : m.excludedSummary({ values: joinValues(hidden) }),
    visible.length === 0 ? '' : m.requiredSummary({ values: joinValues(visible) }),
    nudity.length === 0 ? '' : m.nuditySummary({ values: joinValues(nudity) }),
  ]);
}

/** Lists the attributes with a filter. */
export function describeFilters(lists: Draft['lists']): string {
  const phrases = filterKinds.filter(({ name }) => describeFilter(name, lists) !== '').map(({ phrase }) => phrase());
  if (describeRatings(lists) !== '') phrases.push(m.ratingsFilterPhrase());
  return phrases.length === 0 ? m.nothingIsFiltered() : joinPhrases(phrases);
}

/** Describes the sort order of streams. */
export function describeOrder(criteria: readonly DraftCriterion[]): string {
  if (criteria.length === 0) return m.asTheAddonsHaveIt();
  return joinPhrases(criteria.map(({ key }) => sortKeys.find(([one]) => one === key)?.[2]() ?? key));
}

/** Describes the ranges of sizes and numbers. */
export function describeRanges(ranges: Draft['ranges']): string {
  return joinParts(
    rangeFields.map(({ path, summary }) => {
      const { min = null, max = null } = ranges[path] ?? {};
      if (min === null && max === null) return '';
      const bounds = max === null ? 'min' : min === null ? 'max' : 'both';
      return summary({ bounds, min: min ?? 0, max: max ?? 0 });
    }),
  );
}

/** Describes the limits of the number of streams. */
export function describeLimits(limits: Draft['limits']): string {
  return joinParts(
    limitFields.map(([path, , summarize]) => {
      const limit = limits[path] ?? null;
      return limit === null ? '' : summarize({ limit });
    }),
  );
}

/** Describes the enabled switches. */
export function describeFlags(flags: Draft['flags']): string {
  const on = flagFields.filter(([path]) => flags[path]).map(([, title]) => title());
  return on.length <= 1 ? (on[0] ?? '') : m.countChosen({ count: on.length });
}

/** Describes ranges, limits and switches. */
export function describeNumbers({ ranges, limits, flags }: Draft): string {
  return (
    [describeRanges(ranges), describeLimits(limits), describeFlags(flags)].filter(Boolean).join(' · ') || m.noLimits()
  );
}

/** Describes the number of expressions in a list; empty when there are none. */
export function describeRules(rules?: RulesDraft['lists'][string]): string {
  const count = countExpressions(rules);
  return count === 0 ? '' : m.countExpressions({ count });
}

/** Describes all lists of expressions. */
export function describeExpressions(lists: RulesDraft['lists']): string {
  const parts = ruleLists.map(([name, , summarize]) => {
    const count = countExpressions(lists[name]);
    return count === 0 ? '' : summarize({ count });
  });
  return joinParts(parts) || m.noEntries();
}

/** Checks for an expression in any list. */
export function hasExpressions(lists: RulesDraft['lists']): boolean {
  return ruleLists.some(([name]) => countExpressions(lists[name]) > 0);
}

function countExpressions(rules: RulesDraft['lists'][string] = []): number {
  return rules.filter(hasText).length;
}

/** Describes the groups of addons. */
export function describeGroups({ enabled, sequential, list }: RulesDraft['groups']): string {
  if (list.length === 0) return m.allAddonsAreAskedAt();
  const mode = !enabled ? 'off' : sequential ? 'sequential' : 'parallel';
  return m.countGroups({ count: list.length, mode });
}

/** Describes the changes of the catalog list. */
export function describeCatalogs(changes: Draft['catalogs']): string {
  if (changes.length === 0) return m.asTheAddonsHaveThem();
  const hidden = changes.filter(({ enabled }) => !enabled).length;
  return hidden === 0 ? m.inYourOrder() : m.inYourOrderHidden({ hidden });
}

/** Describes a list of names. */
export function describeNames(names: readonly string[]): string {
  return names.length === 0 ? m.noEntries() : joinValues(names);
}

/** Describes the sources of posters and metadata. */
export function describePictures(service: string, texts: Draft['texts']): string {
  const posters = posterServices.find(([id]) => id === service && id !== 'none')?.[1];
  return [posters?.() ?? m.asTheAddonsHaveThem(), texts['tmdbApiKey'] ? m.theMovieDatabase() : '']
    .filter(Boolean)
    .join(' · ');
}

const formatNames: Readonly<Record<string, Text>> = {
  torrentio: 'Torrentio',
  torbox: 'TorBox',
  gdrive: 'Google Drive',
  lightgdrive: 'Light Google Drive',
  minimalisticgdrive: 'Minimalistic Google Drive',
  prism: 'Prism',
  tamtaro: 'Tamtaro',
  plain: m.stylePlain,
  compact: m.styleCompact,
  technical: m.styleTechnical,
};

/** Returns the label of a format. */
export function getFormatLabel(id: string): string {
  return id === 'custom' ? m.yourOwnTexts() : readText(findOwn(formatNames, id) ?? id);
}
