import { parseTag, type Tag } from './tags.ts';

/** One destination line of a TEXT configuration. */
export interface ConfigurationEntry {
  readonly url: string;
  readonly tags: readonly Tag[];
  /** Counted from 1. */
  readonly line: number;
}

/** What a TEXT configuration says. `skipped` names the lines that say nothing, without their content: it may be secret. */
export interface TextConfiguration {
  readonly entries: readonly ConfigurationEntry[];
  readonly skipped: readonly { readonly line: number; readonly reason: string }[];
}

const urlLine = /^[a-z0-9][a-z0-9.+_-]*:\/\/.*$/i;
const taggedLine = /^([a-z0-9_\-:,\s]+?)\s*=\s*([a-z0-9][a-z0-9.+_-]*:\/\/.*)$/i;
const groupLine = /^([a-z0-9_\-:,\s]+?)\s*=\s*([a-z0-9_\-:,\s]+)$/i;

/** True for text that is meant as the peer's YAML configuration. */
export function looksLikeYaml(text: string): boolean {
  return /^(version|urls|groups|include)\s*:(\s|$)/m.test(text);
}

function parseNames(text: string): readonly Tag[] | undefined {
  const tags = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(parseTag);
  return tags.length > 0 && tags.every((tag) => tag !== undefined) ? tags : undefined;
}

/**
 * Reads the peer's TEXT format: `url`, `tag1,tag2=url`, `group=tag1,tag2`, `#` or `;` comments, one statement a line.
 * Lines that are nothing of that are skipped, as the peer does. `include` lines are skipped too.
 */
export function parseTextConfiguration(text: string): TextConfiguration {
  const entries: ConfigurationEntry[] = [];
  const groups: { readonly names: readonly Tag[]; readonly members: readonly string[] }[] = [];
  const skipped: { line: number; reason: string }[] = [];

  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const tagged = taggedLine.exec(line);
    const grouped = tagged === null ? groupLine.exec(line) : null;
    if (urlLine.test(line)) {
      entries.push({ url: line, tags: [], line: index + 1 });
    } else if (tagged !== null) {
      const tags = parseNames(tagged[1] ?? '');
      if (tags === undefined) skipped.push({ line: index + 1, reason: 'its tags are not valid' });
      else entries.push({ url: tagged[2] ?? '', tags, line: index + 1 });
    } else if (grouped !== null) {
      const names = parseNames(grouped[1] ?? '');
      const members = parseNames(grouped[2] ?? '');
      if (names === undefined || members === undefined)
        skipped.push({ line: index + 1, reason: 'its tags are not valid' });
      else groups.push({ names, members: members.map(({ name }) => name) });
    } else if (/^include\s/i.test(line)) {
      skipped.push({ line: index + 1, reason: 'include is not followed' });
    } else {
      skipped.push({ line: index + 1, reason: 'it is no destination' });
    }
  }
  return { entries: groups.length === 0 ? entries : applyGroups(entries, groups), skipped };
}

/** A destination that wears a member of a group wears the group's name too; groups may hold groups. */
function applyGroups(
  entries: readonly ConfigurationEntry[],
  groups: readonly { readonly names: readonly Tag[]; readonly members: readonly string[] }[],
): readonly ConfigurationEntry[] {
  return entries.map(({ url, tags, line }) => {
    const worn = new Map(tags.map((tag) => [tag.name, tag]));
    for (let grown = true; grown;) {
      grown = false;
      for (const { names, members } of groups) {
        if (!members.some((member) => worn.has(member))) continue;
        for (const tag of names) {
          if (worn.has(tag.name)) continue;
          worn.set(tag.name, tag);
          grown = true;
        }
      }
    }
    return { url, tags: [...worn.values()], line };
  });
}

/** Separates a list of URLs by commas or white space; a comma inside a URL is kept when no URL begins behind it. */
export function splitUrls(text: string): readonly string[] {
  return text
    .split(/[\s,]+(?=[a-z0-9][a-z0-9.+_-]*:\/\/)/i)
    .map((part) => part.replace(/^[\s,]+|[\s,]+$/g, ''))
    .filter((part) => part !== '');
}
