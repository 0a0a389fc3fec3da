import { parseTag, type Tag } from './tags.ts';

/** How a configuration is written down. */
export type ConfigurationFormat = 'text' | 'yaml';

/** One destination of a configuration. */
export interface ConfigurationEntry {
  readonly url: string;
  /** Its own tags and the names of the groups they are in. */
  readonly tags: readonly Tag[];
  /** The tags that stand at the destination itself, as written. */
  readonly ownTags: readonly string[];
  /** Counted from 1. */
  readonly line: number;
  /** In YAML: the steps that lead to it. */
  readonly path?: readonly (string | number)[];
}

/** A group: who wears one of its members wears its names too. */
export interface Group {
  readonly names: readonly Tag[];
  readonly members: readonly string[];
}

/** What a configuration says. `skipped` names the lines that say nothing, without their content: it may be secret. */
export interface Configuration {
  readonly entries: readonly ConfigurationEntry[];
  readonly skipped: readonly { readonly line: number; readonly reason: string }[];
}

const urlStart = /^[a-z0-9][a-z0-9.+_-]*:\/\//i;
const nameList = /^[a-z0-9_\-:,\s]+$/i;

/** Whoever answers at the included address could send everything elsewhere, at any time and unseen. */
export const includeReason = 'include is not followed; copy its lines here, or notify a key by apprise://host/key';

/** What a configuration may hold at most. Groups multiply: each may add its names to every destination. */
export const configurationLimits = { groups: 200, names: 50, members: 1000 } as const;

function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

/** Tags separated by commas or white space; undefined when one is none, or there is none at all. */
export function parseNames(text: string, limit: number): readonly Tag[] | undefined {
  const names = splitWords(text);
  if (names.length === 0 || names.length > limit) return undefined;
  const tags = names.map(parseTag);
  return tags.every((tag) => tag !== undefined) ? tags : undefined;
}

/** `names = rest`, where the names are tags; undefined for any other line. Text of strangers: no pattern may look twice. */
function splitNames(line: string): { readonly names: string; readonly rest: string } | undefined {
  const at = line.indexOf('=');
  const names = line.slice(0, Math.max(0, at)).trim();
  return nameList.test(names) ? { names, rest: line.slice(at + 1).trim() } : undefined;
}

/** White space and `#` end an address: a channel has a slash before its mark. */
function removeComment(text: string): string {
  const at = text.search(/\s#/);
  return at === -1 ? text : text.slice(0, at).trimEnd();
}

/**
 * Reads the peer's TEXT format: `url`, `tag1,tag2=url`, `group=tag1,tag2`, `#` or `;` comments, also `#` behind an address,
 * one statement a line.
 * Lines that are nothing of that are skipped, as the peer does. `include` lines are skipped too.
 */
export function parseTextConfiguration(text: string): Configuration {
  const entries: ConfigurationEntry[] = [];
  const groups: Group[] = [];
  const skipped: { line: number; reason: string }[] = [];

  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const { names, rest } = splitNames(line) ?? { names: '', rest: '' };
    if (urlStart.test(line)) {
      entries.push({ url: removeComment(line), tags: [], ownTags: [], line: index + 1 });
    } else if (urlStart.test(rest)) {
      const tags = parseNames(names, configurationLimits.names);
      if (tags === undefined) skipped.push({ line: index + 1, reason: 'its tags are not valid' });
      else entries.push({ url: removeComment(rest), tags, ownTags: splitWords(names), line: index + 1 });
    } else if (nameList.test(rest)) {
      const group = parseNames(names, configurationLimits.names);
      const members = parseNames(rest, configurationLimits.members);
      if (group === undefined || members === undefined)
        skipped.push({ line: index + 1, reason: 'its tags are not valid' });
      else if (groups.length === configurationLimits.groups)
        skipped.push({ line: index + 1, reason: `only ${configurationLimits.groups} groups are read` });
      else groups.push({ names: group, members: members.map(({ name }) => name) });
    } else if (/^include\s/i.test(line)) {
      skipped.push({ line: index + 1, reason: includeReason });
    } else {
      skipped.push({ line: index + 1, reason: 'it is no destination' });
    }
  }
  return { entries: applyGroups(entries, groups), skipped };
}

/** A destination that wears a member of a group wears the group's name too; groups may hold groups. */
export function applyGroups(
  entries: readonly ConfigurationEntry[],
  groups: readonly Group[],
): readonly ConfigurationEntry[] {
  if (groups.length === 0) return entries;
  const groupNames = new Map<string, Tag[]>();
  for (const { names, members } of groups) {
    for (const member of members) groupNames.set(member, [...(groupNames.get(member) ?? []), ...names]);
  }
  return entries.map((entry) => {
    const effectiveTags = new Map(entry.tags.map((tag) => [tag.name, tag]));
    // A map goes on to what is added to it meanwhile.
    for (const name of effectiveTags.keys()) {
      for (const tag of groupNames.get(name) ?? []) if (!effectiveTags.has(tag.name)) effectiveTags.set(tag.name, tag);
    }
    return { ...entry, tags: [...effectiveTags.values()] };
  });
}

/** Separates a list of URLs by commas or white space; a comma inside a URL is kept when no URL begins behind it. */
export function splitUrls(text: string): readonly string[] {
  const parts: { readonly from: number; to: number }[] = [];
  for (const { 0: word, index } of text.matchAll(/[^\s,]+/g)) {
    const last = parts.at(-1);
    const to = index + word.length;
    if (last === undefined || urlStart.test(word)) parts.push({ from: index, to });
    else last.to = to;
  }
  return parts.map(({ from, to }) => text.slice(from, to));
}
