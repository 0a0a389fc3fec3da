import * as problems from '#messages/notify-problems';
import { describe, expect, it } from 'vitest';
import {
  removeYamlDestination,
  appendYamlDestination,
  replaceYamlDestination,
} from '../../../services/notify/domain/edit-yaml.ts';
import { parseYamlConfiguration } from '../../../services/notify/domain/yaml-configuration.ts';

const full = `# mine
version: 1
tag: base, 2:all-of-us
asset: { app_id: Name }
groups:
  family: [mom, dad]
  everyone: family
urls:
  - json://a/plain
  - json://b/map:
      tag: devops, admin
      to: x y
  - json://c/list:
      - tag: mom
      - tags: [two, three]
        retry: 3
  - url: json://d/url?x=1
    tag: yes
  - {}
  - garbage
include: [ http://x/y ]
`;

const read = (text: string) =>
  parseYamlConfiguration(text).entries.map(({ url, tags }) => [url, tags.map(({ name }) => name).join(' ')]);

describe('YAML configuration', () => {
  it('has destinations in all forms, with tags, arguments and groups', () => {
    expect(read(full)).toEqual([
      ['json://a/plain', 'base all-of-us'],
      ['json://b/map?to=x%20y', 'base all-of-us devops admin'],
      ['json://c/list', 'base all-of-us mom family everyone'],
      ['json://c/list?retry=3', 'base all-of-us two three'],
      ['json://d/url?x=1', 'base all-of-us yes'],
    ]);
    const { entries, skipped } = parseYamlConfiguration(full);
    expect(entries.map(({ line, ownTags }) => [line, ownTags.join(' ')])).toEqual([
      [9, ''],
      [10, 'devops admin'],
      [14, 'mom'],
      [15, 'two three'],
      [17, 'yes'],
    ]);
    expect(skipped).toEqual([
      { line: 20, reason: problems.lineNotADestination() },
      { line: 21, reason: problems.includeUnsupported() },
    ]);
  });

  it('accepts a single address, and groups as a list of maps', () => {
    expect(read('urls: json://only')).toEqual([['json://only', '']]);
    expect(read('groups:\n  - g: a\n  - h: [g]\nurls:\n  - json://x:\n      tag: a')).toEqual([['json://x', 'a g h']]);
  });

  it.each([
    ['no YAML at all', 'urls: [', problems.yamlInvalid()],
    ['a list', '- json://x', problems.yamlNotAConfiguration()],
    ['text', 'json://x', problems.yamlNotAConfiguration()],
    ['odd tags', 'urls:\n  - json://x:\n      tag: "a!"', problems.lineTagsInvalid()],
    ['endless references', `a: &a [x]\nurls:\n${'  - *a\n'.repeat(3)}`, problems.lineNotADestination()],
  ])('explains the error in %s', (_case, text, reason) => {
    const { entries, skipped } = parseYamlConfiguration(text);
    expect(entries).toEqual([]);
    expect(skipped[0]?.reason).toBe(reason);
  });

  it('limits the depth and size', () => {
    expect(parseYamlConfiguration(`urls: ${'['.repeat(2000)}${']'.repeat(2000)}`).entries).toEqual([]);
    const many = `urls:\n${'  - json://x\n'.repeat(5000)}`;
    expect(parseYamlConfiguration(many).entries).toHaveLength(5000);
  });
});

describe('a change to YAML', () => {
  it('adds, changes and removes a destination and leaves the rest, with its comments', () => {
    const added = appendYamlDestination(full, 'json://new', ['n', 'm']);
    expect(added).toContain('# mine');
    expect(read(added).at(-1)).toEqual(['json://new', 'base all-of-us n m']);
    const second = parseYamlConfiguration(full).entries[2];
    const without = removeYamlDestination(full, second?.path ?? []);
    expect(read(without).map(([url]) => url)).toEqual([
      'json://a/plain',
      'json://b/map?to=x%20y',
      'json://c/list?retry=3',
      'json://d/url?x=1',
    ]);
    const changed = replaceYamlDestination(full, parseYamlConfiguration(full).entries[1]?.path ?? [], 'json://b2', []);
    expect(read(changed).at(-1)).toEqual(['json://b2', 'base all-of-us']);
    expect(read(changed)).toHaveLength(5);
  });

  it('converts one address or none to a list', () => {
    expect(read(appendYamlDestination('urls: json://a\n', 'json://b', []))).toEqual([
      ['json://a', ''],
      ['json://b', ''],
    ]);
    expect(read(appendYamlDestination('version: 1\n', 'json://b', ['t']))).toEqual([['json://b', 't']]);
    const last = removeYamlDestination('urls:\n  - json://a:\n      - tag: x\n', ['urls', 0, 'json://a', 0]);
    expect(read(last)).toEqual([]);
  });
});
