import type { PushTopic } from '../../../../services/contracts/push/api.ts';
import { severities, topicParts } from './topic-names.ts';

/** What narrows the list of topics; empty: anything. */
export interface TopicsFilter {
  readonly words: string;
  readonly service: string;
  readonly severity: string;
  readonly category: string;
  /** The part that the list is grouped by. */
  readonly group: '' | 'service' | 'severity' | 'category';
}

/** Topics under one heading. */
export interface TopicGroup {
  /** Empty without groups. */
  readonly title: string;
  readonly topics: readonly PushTopic[];
}

/** The filter of an address: `/push?find=…&service=…&severity=…&category=…&group=…`. */
export function filterOf(query: Readonly<URLSearchParams>): TopicsFilter {
  const part = (name: string): string => query.get(name) ?? '';
  const group = part('group');
  return {
    words: part('find'),
    service: part('service'),
    severity: part('severity'),
    category: part('category'),
    group: group === 'service' || group === 'severity' || group === 'category' ? group : '',
  };
}

/** The query that an address has for a filter, with its question mark; empty for none. */
export function queryOf({ words, ...parts }: TopicsFilter): string {
  const fields = Object.entries({ find: words, ...parts }).filter(([, value]) => value !== '');
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields).toString()}`;
}

/** Where a small window shows the topics that fit a filter; a wide one has them beside the messages anyway. */
export function allTopicsOf(filter: TopicsFilter): string {
  const query = queryOf(filter);
  return `/push${query === '' ? '?' : `${query}&`}topics=1`;
}

/** The topics that fit, under their headings; worst severities come first, names of another form last. */
export function groupsOf(topics: readonly PushTopic[], filter: TopicsFilter): readonly TopicGroup[] {
  const words = filter.words.trim().toLowerCase();
  const found = topics.filter(({ name, line }) => {
    if (!`${name}\n${line}`.toLowerCase().includes(words)) return false;
    const parts = topicParts(name);
    return (['service', 'severity', 'category'] as const).every(
      (part) => filter[part] === '' || parts?.[part] === filter[part],
    );
  });
  const by = filter.group;
  if (by === '') return found.length === 0 ? [] : [{ title: '', topics: found }];
  const groups = Map.groupBy(found, ({ name }) => topicParts(name)?.[by] ?? '');
  const place = (title: string): number => {
    if (title === '') return Number.MAX_SAFE_INTEGER;
    return by === 'severity' ? -severities.findIndex((each) => each === title) : 0;
  };
  return [...groups]
    .sort(([a], [b]) => place(a) - place(b) || a.localeCompare(b))
    .map(([title, rows]) => ({ title: title === '' ? 'Other names' : title, topics: rows }));
}
