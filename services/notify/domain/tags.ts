/** Tag of a destination or a call: `[level:]name[:retries]`. */
export interface Tag {
  /** Lower case, because tags are case-insensitive. */
  readonly name: string;
  /** Escalation level of a destination: lower ones come first, 0 if unset. In a call: only this level. */
  readonly level?: number;
  /** Retries after the first attempt, as requested by a call. */
  readonly retries?: number;
}

/** Alternatives of tag groups: one group must match, with all its tags. */
export type TagExpression = readonly (readonly Tag[])[];

/** Parsed tag field: empty, an expression, or invalid. */
export type TagField =
  | { readonly kind: 'none' }
  | { readonly kind: 'expression'; readonly expression: TagExpression }
  | { readonly kind: 'invalid' };

const allowedCharacters = /^[a-z0-9_\-:|,+&\s]*$/i;
const token = /^(?:(\d{1,9}):)?([a-z0-9][a-z0-9_-]*)(?::(\d{1,9}))?$/i;
/** Maximum length of an expression. Each of its tags is compared with all tags of every destination. */
const maxTextLength = 16_384;
const maxTags = 500;
const invalid: TagField = { kind: 'invalid' };

/** Parses one tag. Returns undefined if it is invalid. */
export function parseTag(text: string): Tag | undefined {
  const [, level, name, retries] = token.exec(text) ?? [];
  if (name === undefined) return undefined;
  return {
    name: name.toLowerCase(),
    ...(level === undefined ? {} : { level: Number(level) }),
    ...(retries === undefined ? {} : { retries: Number(retries) }),
  };
}

function parseGroup(text: string): readonly Tag[] | undefined {
  const tags = text
    .split(/[\s+&]+/)
    .filter((part) => part !== '')
    .map(parseTag);
  return tags.every((tag) => tag !== undefined) ? tags : undefined;
}

/** Parses the groups of a string. Returns undefined if it contains anything other than tags. */
function parseText(text: string): TagExpression | undefined {
  if (text.length > maxTextLength || !allowedCharacters.test(text)) return undefined;
  const groups = text.split(/[,|]/).map(parseGroup);
  if (!groups.every((group) => group !== undefined)) return undefined;
  return groups.filter((group) => group.length > 0);
}

function parseItem(item: unknown): TagExpression | undefined {
  if (typeof item === 'string') return parseText(item);
  if (!Array.isArray(item) || item.length > maxTags) return undefined;
  const parts: readonly (TagExpression | undefined)[] = item.map((part: unknown) =>
    typeof part === 'string' ? parseText(part) : undefined,
  );
  if (!parts.every((part) => part !== undefined)) return undefined;
  const group = parts.flat(2);
  return group.length > 0 ? [group] : [];
}

/**
 * Parses the `tag` field of Apprise API. In a string, `,` and `|` separate alternatives, while white space, `+` and
 * `&` join tags that must all match. A list contains alternatives; a list in a list contains tags that must all
 * match.
 */
export function parseTagField(value: unknown): TagField {
  if (value === undefined || value === null) return { kind: 'none' };
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (items.length > maxTags) return invalid;
  const groups = items.map(parseItem);
  if (!groups.every((group) => group !== undefined)) return invalid;
  const expression = groups.flat();
  if (expression.flat().length > maxTags) return invalid;
  return expression.length === 0 ? { kind: 'none' } : { kind: 'expression', expression };
}

/** Returns whether a destination with these tags matches a requested tag. */
export function matchesTag(effectiveTags: readonly Tag[], requestedTag: Tag): boolean {
  if (requestedTag.name === 'all') return true;
  return effectiveTags.some(
    (tag) =>
      tag.name === requestedTag.name && (requestedTag.level === undefined || requestedTag.level === (tag.level ?? 0)),
  );
}

/**
 * Returns the destinations that a call selects, in their order. Without an expression: all, or only untagged ones as
 * in Apprise API. With an expression: the matching ones, and every destination with the tag `always`.
 */
export function selectDestinations<T extends { readonly tags: readonly Tag[] }>(
  destinations: readonly T[],
  expression: TagExpression | undefined,
  withoutTag: 'everyone' | 'untagged' = 'everyone',
): readonly T[] {
  if (expression === undefined) {
    return withoutTag === 'everyone' ? destinations : destinations.filter(({ tags }) => tags.length === 0);
  }
  return destinations.filter(
    ({ tags }) =>
      tags.some(({ name }) => name === 'always') ||
      expression.some((group) => group.every((requestedTag) => matchesTag(tags, requestedTag))),
  );
}
