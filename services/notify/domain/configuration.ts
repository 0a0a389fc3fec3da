import * as m from '#messages/notify-problems';
import { parseTag, type Tag } from './tags.ts';

/** Format of a configuration. */
export type ConfigurationFormat = 'text' | 'yaml';

/** Destination of a configuration. */
export interface ConfigurationEntry {
  readonly url: string;
  /** Its own tags and the names of their groups. */
  readonly tags: readonly Tag[];
  /** Tags of the destination itself, as written. */
  readonly ownTags: readonly string[];
  /** Line number, from 1. */
  readonly line: number;
  /** Path to the entry, for YAML. */
  readonly path?: readonly (string | number)[];
}

/** Group of tags: a destination with a member tag also has the names of the group. */
export interface Group {
  readonly names: readonly Tag[];
  readonly members: readonly string[];
}

/** Parsed configuration. `skipped` lists lines without effect, without their text, which may be secret. */
export interface Configuration {
  readonly entries: readonly ConfigurationEntry[];
  readonly skipped: readonly { readonly line: number; readonly reason: string }[];
}

const urlStart = /^[a-z0-9][a-z0-9.+_-]*:\/\//i;
const nameList = /^[a-z0-9_\-:,\s]+$/i;

/** The server at an included address could redirect all notifications at any time, without being noticed. */
export const getIncludeReason = (): string => m.includeUnsupported();

/** Limits of a configuration. Each group can add its names to every destination. */
export const configurationLimits = { groups: 200, names: 50, members: 1000 } as const;

function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

/** Parses tags separated by commas or white space. Returns undefined if one of them is invalid, or there is none. */
export function parseNames(text: string, limit: number): readonly Tag[] | undefined {
  const names = splitWords(text);
  if (names.length === 0 || names.length > limit) return undefined;
  const tags = names.map(parseTag);
  return tags.every((tag) => tag !== undefined) ? tags : undefined;
}

/**
 * Splits `names = rest`, where the names are tags. Returns undefined for other lines. Uses no pattern with
 * backtracking, because the text is untrusted.
 */
function splitNames(line: string): { readonly names: string; readonly rest: string } | undefined {
  const index = line.indexOf('=');
  const names = line.slice(0, Math.max(0, index)).trim();
  return nameList.test(names) ? { names, rest: line.slice(index + 1).trim() } : undefined;
}

/** Removes a comment. Only white space followed by `#` starts one, because a channel name follows a slash. */
function removeComment(text: string): string {
  const index = text.search(/\s#/);
  return index === -1 ? text : text.slice(0, index).trimEnd();
}

/**
 * Parses the TEXT format of Apprise: `url`, `tag1,tag2=url`, `group=tag1,tag2`, comments with `#` or `;`, also `#`
 * after an address, one statement per line. Other lines are skipped, as in Apprise, and so are `include` lines.
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
      if (tags === undefined) skipped.push({ line: index + 1, reason: m.lineTagsInvalid() });
      else entries.push({ url: removeComment(rest), tags, ownTags: splitWords(names), line: index + 1 });
    } else if (nameList.test(rest)) {
      const group = parseNames(names, configurationLimits.names);
      const members = parseNames(rest, configurationLimits.members);
      if (group === undefined || members === undefined) skipped.push({ line: index + 1, reason: m.lineTagsInvalid() });
      else if (groups.length === configurationLimits.groups)
        skipped.push({ line: index + 1, reason: m.tooManyGroups({ limit: configurationLimits.groups }) });
      else groups.push({ names: group, members: members.map(({ name }) => name) });
    } else if (/^include\s/i.test(line)) {
      skipped.push({ line: index + 1, reason: getIncludeReason() });
    } else {
      skipped.push({ line: index + 1, reason: m.lineNotADestination() });
    }
  }
  return { entries: applyGroups(entries, groups), skipped };
}

/** Adds the names of groups to destinations with a member tag; groups may be nested. */
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
    // The iteration includes keys that are added during it.
    for (const name of effectiveTags.keys()) {
      for (const tag of groupNames.get(name) ?? []) if (!effectiveTags.has(tag.name)) effectiveTags.set(tag.name, tag);
    }
    return { ...entry, tags: [...effectiveTags.values()] };
  });
}

/** Splits a list of URLs at commas or white space. A comma inside of a URL is kept if no URL begins after it. */
export function splitUrls(text: string): readonly string[] {
  const ranges: { readonly from: number; to: number }[] = [];
  for (const { 0: word, index } of text.matchAll(/[^\s,]+/g)) {
    const last = ranges.at(-1);
    const to = index + word.length;
    if (last === undefined || urlStart.test(word)) ranges.push({ from: index, to });
    else last.to = to;
  }
  return ranges.map(({ from, to }) => text.slice(from, to));
}
