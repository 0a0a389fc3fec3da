import * as m from '#messages/notify-texts';
import { formatList } from '../../../messages/format.ts';
import type { ChainLevel } from './escalation.ts';
import type { Tag, TagExpression } from './tags.ts';
import { selectDestinations } from './tags.ts';

/** Explains whether and why a tag expression selects a destination; `chainLevel` is its position in an escalation. */
export function explainSelection(
  tags: readonly Tag[],
  expression: TagExpression | undefined,
  withoutTag: 'everyone' | 'untagged' = 'everyone',
  chainLevel?: ChainLevel,
): { readonly chosen: boolean; readonly why: string } {
  if (expression === undefined && withoutTag === 'untagged') {
    return tags.length === 0
      ? { chosen: true, why: m.untaggedSelected() }
      : { chosen: false, why: m.taggedNotSelected() };
  }
  if (expression === undefined) return { chosen: true, why: m.everyoneSelected() };
  if (tags.some(({ name }) => name === 'always')) return { chosen: true, why: m.alwaysSelected() };
  const group = expression.find((each) => selectDestinations([{ tags }], [each]).length > 0);
  if (group !== undefined) {
    if (group.every(({ name }) => name === 'all')) return { chosen: true, why: m.allSelected() };
    const names = group.filter(({ name }) => name !== 'all').map(formatTag);
    const values = { count: names.length, tags: formatList(names) };
    return {
      chosen: true,
      why:
        chainLevel === undefined
          ? m.tagSelected(values)
          : m.tagSelectedAtLevel({ ...values, level: String(chainLevel.level) }),
    };
  }
  if (tags.length === 0) return { chosen: false, why: m.noTag() };
  const missing = expression.map((each) =>
    each.filter((requestedTag) => selectDestinations([{ tags }], [[requestedTag]]).length === 0),
  );
  const closest = missing.toSorted((a, b) => a.length - b.length)[0] ?? [];
  const alternatives = missing.length > 1 && closest.length === 1 && missing.every(({ length }) => length === 1);
  const names = [...new Set((alternatives ? missing.flat() : closest).map(formatTag))];
  const why =
    alternatives && names.length > 1
      ? m.anyTagMissing({ tags: formatList(names, 'disjunction') })
      : m.tagMissing({ count: names.length, tags: formatList(names) });
  return { chosen: false, why };
}

/** Maximum number of tag groups that are listed. */
const maxGroups = 10;

/** Explains in English, for a client of the Apprise API, why a call selects no destination; `entries` are the existing destinations. */
export function explainEmptySelection(
  key: string | undefined,
  entries: readonly unknown[],
  expression: TagExpression | undefined,
): string {
  if (key === undefined) return 'Destinations that come with a call have no tags, so a tag reaches none of them.';
  if (entries.length === 0) return `The key ${key} has no destination that can be used.`;
  if (expression === undefined) return `All destinations of the key ${key} have tags, and the call names none.`;
  const requestedGroups = expression
    .slice(0, maxGroups)
    .map((group) => group.map(formatTag).slice(0, maxGroups).join(' and '));
  const groups = [...requestedGroups, ...(expression.length > maxGroups ? ['others'] : [])].join(', or ');
  return `No destination of the key ${key} has the tag${/ (and|or) /.test(groups) ? 's' : ''} ${groups}.`;
}

function formatTag({ name, level }: Tag): string {
  return level === undefined ? name : `${String(level)}:${name}`;
}
