import * as m from '#messages/push';
import type { PushTopic } from '../../../../../services/contracts/push/api.ts';
import { compareNames } from '../../../../../services/contracts/compare-names.ts';
import { severities, parseTopicName } from '../../../state/push/topic-names.ts';
import { topicPreferences } from '../../../state/push/topic-preferences.svelte.ts';
import { containsTerms } from '../../../state/search-text.ts';

/** Filters of the topic list; empty for no restriction. */
export interface TopicsFilter {
  readonly query: string;
  readonly service: string;
  readonly severity: string;
  readonly category: string;
  /** The part of the name that the list is grouped by. */
  readonly group: '' | 'service' | 'severity' | 'category';
}

/** Topics with a common heading. */
export interface TopicGroup {
  /** Empty when the list is not grouped. */
  readonly title: string;
  readonly topics: readonly PushTopic[];
}

/** Parses the filters of an address: `/push?find=…&service=…&severity=…&category=…&group=…`. */
export function parseFilter(query: Readonly<URLSearchParams>): TopicsFilter {
  const getField = (name: string): string => query.get(name) ?? '';
  const group = getField('group');
  return {
    query: getField('find'),
    service: getField('service'),
    severity: getField('severity'),
    category: getField('category'),
    group: group === 'service' || group === 'severity' || group === 'category' ? group : '',
  };
}

/** Builds the query of an address with its question mark; empty without filters. */
export function buildQuery({ query, ...parts }: TopicsFilter): string {
  const fields = Object.entries({ find: query, ...parts }).filter(([, value]) => value !== '');
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields).toString()}`;
}

/** Builds the address of the topic list with filters; wide windows show the list next to the messages anyway. */
export function buildTopicsPath(filter: TopicsFilter): string {
  const query = buildQuery(filter);
  return `/push${query === '' ? '?' : `${query}&`}topics=1`;
}

/** Filters and groups topics; the most severe groups come first, names of another form last. */
export function groupTopics(topics: readonly PushTopic[], filter: TopicsFilter): readonly TopicGroup[] {
  const matching = topics.filter(({ name, line }) => {
    if (!containsTerms(`${topicPreferences.getName(name)}\n${name}\n${line}`, filter.query)) return false;
    const parts = parseTopicName(name);
    return (['service', 'severity', 'category'] as const).every(
      (getField) => filter[getField] === '' || parts?.[getField] === filter[getField],
    );
  });
  const groupBy = filter.group;
  if (groupBy === '') return matching.length === 0 ? [] : [{ title: '', topics: matching }];
  const groups = Map.groupBy(matching, ({ name }) => parseTopicName(name)?.[groupBy] ?? '');
  const getOrder = (title: string): number => {
    if (title === '') return Number.MAX_SAFE_INTEGER;
    return groupBy === 'severity' ? -severities.findIndex((each) => each === title) : 0;
  };
  return [...groups]
    .sort(([a], [b]) => getOrder(a) - getOrder(b) || compareNames(a, b))
    .map(([title, rows]) => ({ title: title === '' ? m.otherNames() : title, topics: rows }));
}
