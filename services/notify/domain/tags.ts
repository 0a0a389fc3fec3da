/** One tag as it is effectiveTags by a destination or asked for in a call: `[level:]name[:retries]`. */
export interface Tag {
  /** Lower case; tags are compared without regard to case. */
  readonly name: string;
  /** Escalation level of a destination: lower ones are asked first, 0 where there is none. In a call: this level alone. */
  readonly level?: number;
  /** Tries besides the first that a call asks for. */
  readonly retries?: number;
}

/** Any of the groups must match, within a group every tag must. */
export type TagExpression = readonly (readonly Tag[])[];

/** What a tag field held: nothing, an expression, or something that is not one. */
export type TagField =
  | { readonly kind: 'none' }
  | { readonly kind: 'expression'; readonly expression: TagExpression }
  | { readonly kind: 'invalid' };

const allowedCharacters = /^[a-z0-9_\-:|,+&\s]*$/i;
const token = /^(?:(\d{1,9}):)?([a-z0-9][a-z0-9_-]*)(?::(\d{1,9}))?$/i;
/** Longer expressions are none: each tag is compared with all that every destination wears. */
const maxTextLength = 16_384;
const maxTags = 500;
const invalid: TagField = { kind: 'invalid' };

/** Reads one tag; undefined when it is none. */
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

/** Groups of a string; undefined when it holds something else than tags. */
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
 * Reads the `tag` field of the peer's API. In a string `,` and `|` separate alternatives, while white space, `+` and
 * `&` join tags that must all be effectiveTags; a list is alternatives, a list in it tags that must all be effectiveTags.
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

/** Whether a destination with these tags wears what a call asks for. */
export function matchesTag(effectiveTags: readonly Tag[], requestedTag: Tag): boolean {
  if (requestedTag.name === 'all') return true;
  return effectiveTags.some(
    (tag) =>
      tag.name === requestedTag.name && (requestedTag.level === undefined || requestedTag.level === (tag.level ?? 0)),
  );
}

/**
 * The destinations a call reaches, in their own order. Without an expression all of them, or, as in the peer, the
 * untagged; with one those it names, and every destination that wears `always`.
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
