import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DataFolder } from './fixture.ts';

const push = 'version: 1\nservices:\n  push:\n    retention: 30\n';

test.each([
  ['a tab', 'version: 1\n\thost: {}\n', { path: '', line: 2 }],
  ['a bracket that is not closed', 'version: 1\nservices: [\n', { path: '' }],
  ['a quote that is not closed', 'version: 1\nhost: { logLevel: "info }\n', { path: '' }],
  ['a name used twice', `${push}    port: 1\n    port: 2\n`, { path: '', line: 6 }],
  ['two documents', 'version: 1\n---\nversion: 1\n', { path: '' }],
  ['an unknown alias', 'version: 1\nhost: *nothing\n', { path: '' }],
  ['aliases that multiply', bomb(), { path: '' }],
  ['a list in place of settings', '- 1\n- 2\n', { path: '', line: 1 }],
  ['binary data', '\u0000\u0001\u0002PNG', { path: '' }],
  ['a newer version', `# of the next one\nversion: 99\n`, { path: 'version', line: 2 }],
  ['a version that is no number', 'version: one\n', { path: 'version', line: 1 }],
])(
  'opens with defaults, reports the position, and keeps the file when it is repaired in the app: %s',
  async (_case, text, where) => {
    await using folder = await DataFolder.make(text);
    const config = await folder.open();
    expect(config.problems).toEqual([expect.objectContaining(where)]);
    expect(config.problems[0]?.message).toMatch(/^[A-Z"].*\.$/);
    expect(config.read().services['push']?.port).toBe(2586);
    expect(config.describe().problems).toEqual(config.problems);
    expect(await folder.names()).toEqual(['homeport.yaml']);

    await config.change('push', { port: 2600 });
    expect(await folder.read('homeport.yaml.bad')).toBe(text);
    expect(config.problems).toEqual([]);
    const second = await folder.open();
    expect([second.problems, second.read().services['push']?.port]).toEqual([[], 2600]);
  },
);

test('reports values of the wrong type with their line and uses the rest', async () => {
  const text = `version: 1
host:
  logLevel: loud
services:
  push:
    port: "2600"
    retention: 30
    limits:
      perDay: many
    topics:
      - a
      - 7
  range: on
  control:
    port:
`;
  await using folder = await DataFolder.make(text);
  const config = await folder.open();
  expect(Object.fromEntries(config.problems.map(({ path, line }) => [path, line]))).toEqual({
    'host.logLevel': 3,
    'services.push.port': 6,
    'services.push.limits.perDay': 9,
    'services.push.topics.1': 12,
    'services.range': 13,
  });
  expect(config.read().services['push']).toMatchObject({ port: 2586, settings: { retention: 30, topics: [] } });
  expect(config.read().services['control']?.port).toBe(7700);

  await config.change('push', { port: 2600 });
  expect(config.problems.map(({ path }) => path)).not.toContain('services.push.port');
  await config.change('push', { limits: null, topics: ['a'] });
  await config.change('host', { logLevel: 'info' });
  await config.change('range', { enabled: true });
  expect(config.problems).toEqual([]);
  expect(await folder.read('homeport.yaml.bad')).toBe(text);
  expect(await folder.names()).not.toContain('homeport.yaml.bad.2');
});

test('does not replace the copy of the first bad file by a second one', async () => {
  await using folder = await DataFolder.make('a: [');
  await (await folder.open()).change('push', { port: 1 });
  await folder.write('homeport.yaml', 'b: [');
  await (await folder.open()).change('push', { port: 2 });
  expect([await folder.read('homeport.yaml.bad'), await folder.read('homeport.yaml.bad.2')]).toEqual(['a: [', 'b: [']);
});

test('resets two contradicting settings together', async () => {
  await using folder = await DataFolder.make('version: 1\nservices:\n  range: { from: 9, to: 3 }\n');
  const config = await folder.open();
  expect(config.problems).toEqual([
    { path: 'services.range', message: 'The lower end must not be above the upper.', line: 3 },
  ]);
  expect(config.read().services['range']?.settings).toEqual({ from: 1, to: 2 });
});

test('reports and drops an external setting that contradicts the file', async () => {
  await using folder = await DataFolder.make('version: 1\nservices:\n  range: { from: 5, to: 8 }\n');
  const config = await folder.open({ environment: { RANGE_TO: '3' } });
  expect(config.problems).toEqual([
    { path: 'services.range', message: 'RANGE_TO: The lower end must not be above the upper.' },
  ]);
  expect(config.read().services['range']?.settings).toEqual({ from: 5, to: 8 });
  await config.change('push', { retention: 3 });
  await config.change('range', { from: 4 });
  await expect(config.change('range', { from: 9 })).rejects.toMatchObject({
    fields: { 'services.range': 'The lower end must not be above the upper.' },
  });
});

test('reports an unreadable file as a problem', async () => {
  await using folder = await DataFolder.make();
  await mkdir(join(folder.path, 'homeport.yaml'));
  const config = await folder.open();
  expect(config.problems).toEqual([expect.objectContaining({ path: '' })]);
  await expect(config.change('push', { port: 1 })).rejects.toMatchObject({ code: 'config.unwritable' });
});

test('uses defaults for an empty file and one with only comments', async () => {
  for (const text of ['', '# nothing yet\n']) {
    await using folder = await DataFolder.make(text);
    const config = await folder.open();
    expect(config.problems).toEqual([]);
    await config.change('push', { port: 2600 });
    expect(await folder.read()).toContain('version: 1');
    expect(await folder.read()).toContain(text.trim());
  }
});

test('migrates a file of version 0 with its comments and keeps the original', async () => {
  const sample = (name: string): Promise<string> => readFile(new URL(`samples/${name}`, import.meta.url), 'utf8');
  const old = await sample('v0.yaml');
  await using folder = await DataFolder.make(old);
  const config = await folder.open();
  expect(await folder.read()).toBe(await sample('v0.migrated.yaml'));
  expect(await folder.read('homeport.yaml.v0')).toBe(old);
  expect(config.read()).toMatchObject({
    host: { logLevel: 'debug' },
    services: { push: { port: 2600, settings: { retention: 30, topics: ['alerts'] } } },
  });
  expect(config.problems).toEqual([]);
  expect(config.warnings.map(({ path }) => path)).toEqual([
    'motto',
    'services.push.colour',
    'services.shop',
    'services.range.port',
    'services.mail',
  ]);
  await folder.open();
  expect(await folder.read()).toBe(await sample('v0.migrated.yaml'));
});

test('reads a migrated file with a wrong value and reports the new line', async () => {
  await using folder = await DataFolder.make('ports:\n  push: high\npush:\n  retention: 30\n');
  const config = await folder.open();
  const lines = (await folder.read()).split('\n');
  expect(config.problems).toMatchObject([{ path: 'services.push.port', message: 'Expected a number.' }]);
  expect(lines[(config.problems[0]?.line ?? 0) - 1]).toContain('port: high');
  expect(config.read().services['push']?.settings['retention']).toBe(30);
});

/** "Billion laughs": small text that expands to a huge document. */
function bomb(): string {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const item = level === 0 ? 'lol' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array.from({ length: 9 }, () => item).join(', ')}]`;
  });
  return `version: 1\n${levels.join('\n')}\n`;
}
