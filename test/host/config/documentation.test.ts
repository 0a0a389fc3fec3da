import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { buildConfigurationPage } from '../../../main/host/config/documentation.ts';
import { DataFolder, descriptors } from './fixture.ts';

test('has a row for every field with type, default, variable and meaning', () => {
  const page = buildConfigurationPage(descriptors, 'Usage: homeport\n');
  const rows = page.split('\n');
  expect(rows).toContain('## Push (`push`)');
  expect(rows).toContain(
    '| `port` | whole number, 0 to 65535 | `2586` | `HOMEPORT_PORT_PUSH` | **Port.** Port for ' +
      'programs on this computer. Set to 0 to use any free port at each start. |',
  );
  expect(rows).toContain(
    '| `retention` | whole number, 1 to 365 | `7` | `PUSH_RETENTION` | **Retention.** Days to keep messages. |',
  );
  expect(rows).toContain('| `topics` | list of text | `[]` | `PUSH_TOPICS` | **Topics.** Topics to make at once. |');
  expect(rows).toContain('| `mode` | `open` or `closed` | `"open"` | `PUSH_MODE` | **Mode.** Who may publish. |');
  expect(rows).toContain('| `token` | text | – | `PUSH_TOKEN` | **Token.** Of the upstream server. Secret. |');
  expect(rows).toContain('| `note` | text or nothing | `"none"` |  | **Note.** Null is a value here. |');
  expect(rows).toContain('| `PUSH_MODE` | `services.push.mode` |');
  expect(page).toContain('HOMEPORT_DATA_DIR');
  expect(page).toContain('HOMEPORT_CONFIG');
  expect(page).toContain('```\nUsage: homeport\n```\n');
  for (const name of ['upstreams', 'limits', 'logLevel', 'databaseUrl', 'from'])
    expect(page).toContain(`| \`${name}\` |`);
});

test('escapes cells that would break the table', () => {
  const [first] = descriptors;
  if (first === undefined) throw new Error('no descriptor');
  const odd = z.string().default('').meta({ title: 'A|B', description: 'one\ntwo' });
  const page = buildConfigurationPage([{ ...first, settings: first.settings.extend({ odd }) }], '');
  expect(page).toContain('**A\\|B.** one two |');
});

test('writes the page, and fails the check when page and code differ', async () => {
  await using folder = await DataFolder.make();
  const file = join(folder.path, 'configuration.md');
  const script = fileURLToPath(new URL('../../../scripts/configuration-docs.ts', import.meta.url));
  const run = (...flags: string[]): [number | null, string] => {
    const { status, stderr } = spawnSync(process.execPath, [script, ...flags, file], { encoding: 'utf8' });
    return [status, stderr];
  };
  const drift: unknown = [1, expect.stringContaining('npm run docs')];
  expect(run('--check')).toEqual(drift);
  expect(run()).toEqual([0, '']);
  expect(run('--check')).toEqual([0, '']);
  await writeFile(file, `${await folder.read('configuration.md')}\nby hand\n`);
  expect(run('--check')).toEqual(drift);
});
