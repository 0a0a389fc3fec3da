import * as configProblems from '#messages/config-problems';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { exportConfig, importConfig } from '../../../main/host/config/portable.ts';
import { openVault } from '../../../main/host/vault/vault.ts';
import { silentLog } from '../../support/database-location.ts';
import { DataFolder, descriptors } from './fixture.ts';

const sample = readFileSync(fileURLToPath(new URL('samples/plain-secrets.yaml', import.meta.url)), 'utf8');
const secrets = ['upstream-token-1', 'first: word', 'second-word'];
const upstreams = [
  { url: 'https://one.example/', password: 'first: word' },
  { url: 'https://two.example/', password: 'second-word' },
];

async function open(folder: DataFolder, environment: NodeJS.ProcessEnv = {}) {
  const vault = await openVault({ folder: folder.path, create: true, log: silentLog });
  return folder.open({ environment, openVault: () => Promise.resolve(vault) });
}

async function texts(folder: DataFolder): Promise<string> {
  const names = (await folder.names()).filter((name) => name.startsWith('homeport.yaml'));
  return (await Promise.all(names.map((name) => folder.read(name)))).join('\n');
}

describe('secrets in homeport.yaml', () => {
  it('seals secrets of an older version in the file and its copies', async () => {
    await using folder = await DataFolder.make(sample);
    await folder.write('homeport.yaml.1', sample);
    await folder.write('homeport.yaml.bad', sample.replace('note: upstream-note', 'mode: ajar'));
    const config = await open(folder);
    expect(config.problems).toEqual([]);
    expect(config.read().services['push']?.settings).toMatchObject({ token: 'upstream-token-1', upstreams });
    const files = await texts(folder);
    for (const word of secrets) expect(files).not.toContain(word);
    expect(await folder.read()).toMatch(
      /# For the phone of Grace\.\n {4}token: \{ sealed: v1\.\S+ \} # from the server's page\n/,
    );
    expect(await folder.read()).toContain('note: upstream-note');
    expect((await open(folder)).read().services['push']?.settings).toMatchObject({ upstreams });
  });

  it('are unchanged by a start and unrelated changes', async () => {
    await using folder = await DataFolder.make(sample);
    await open(folder);
    const before = await folder.read();
    const config = await open(folder);
    expect(await folder.read()).toBe(before);
    await config.change('push', { retention: 9 });
    const sealed = (text: string): string[] => text.match(/v1\.[\w-]+/g) ?? [];
    expect(sealed(await folder.read())).toEqual(sealed(before));
  });

  it('applies and seals secrets typed while it runs with the next change', async () => {
    await using folder = await DataFolder.make(sample);
    const config = await open(folder);
    await folder.write('homeport.yaml', (await folder.read()).replace(/token: .*/, 'token: typed-by-hand'));
    await config.change('push', { retention: 3 });
    expect(config.read().services['push']?.settings).toMatchObject({ token: 'typed-by-hand', upstreams });
    expect(await texts(folder)).not.toContain('typed-by-hand');
  });

  it('seals secrets from a page, also in lists, and preserves redacted ones', async () => {
    await using folder = await DataFolder.make(sample);
    const config = await open(folder);
    await config.change('push', {
      upstreams: [
        { url: 'https://two.example/', password: { set: true } },
        { url: 'https://three.example/', password: 'third-word' },
      ],
    });
    expect(config.read().services['push']?.settings['upstreams']).toEqual([
      { url: 'https://two.example/', password: 'second-word' },
      { url: 'https://three.example/', password: 'third-word' },
    ]);
    expect(await texts(folder)).not.toMatch(/third-word|second-word/);
  });

  it('are exported sealed or in plain text and imported again', async () => {
    await using folder = await DataFolder.make(sample);
    const config = await open(folder);
    const vault = await openVault({ folder: folder.path, log: silentLog });
    const exported = { content: config.content(), descriptors, portable: {} };
    const exportedText = exportConfig(exported);
    for (const word of secrets) expect(exportedText).toContain(word);
    const sealed = exportConfig({ ...exported, seal: (text, purpose) => vault.seal(text, purpose) });
    for (const word of secrets) expect(sealed).not.toContain(word);
    const imported = importConfig(sealed, { descriptors, open: (text, purpose) => vault.open(text, purpose) });
    await using other = await DataFolder.make();
    const otherSettings = await open(other);
    await otherSettings.replace(imported.content);
    expect(otherSettings.read().services['push']?.settings).toMatchObject({ token: 'upstream-token-1', upstreams });
    for (const word of secrets) expect(await texts(other)).not.toContain(word);
  });

  it('applies and seals secrets of a file named by HOMEPORT_CONFIG', async () => {
    await using folder = await DataFolder.make();
    await folder.write('given.yaml', sample);
    const config = await open(folder, { HOMEPORT_CONFIG: join(folder.path, 'given.yaml') });
    expect(config.read().services['push']?.settings).toMatchObject({ upstreams });
    for (const word of secrets) expect(await texts(folder)).not.toContain(word);
  });

  it('reports secrets sealed under another key or moved to another setting', async () => {
    await using folder = await DataFolder.make(sample);
    await open(folder);
    const seals = (await folder.read()).match(/v1\.[\w-]+/g) ?? [];
    const swapped = (await folder.read()).replace(seals[1] ?? '', seals[0] ?? '');
    await folder.write('homeport.yaml', swapped);
    const config = await open(folder);
    expect(config.problems[0]).toMatchObject({ path: 'services.push.upstreams.0.password', line: 9 });
    expect(config.read().services['push']?.settings).toMatchObject({ token: 'upstream-token-1', upstreams: [] });
    expect(JSON.stringify(config.describe())).not.toContain('v1.');
  });

  it('leaves secrets shared by an anchor in plain text', async () => {
    const shared = 'version: 1\nservices:\n  push:\n    token: &word shared-word\n    note: *word\n';
    await using folder = await DataFolder.make(shared);
    const config = await open(folder);
    expect(config.read().services['push']?.settings).toMatchObject({ token: 'shared-word', note: 'shared-word' });
    expect(await folder.read()).toBe(shared);
  });

  it('treats secrets as set for a command without the vault', async () => {
    await using folder = await DataFolder.make(sample);
    await open(folder);
    const config = await folder.open({ readOnly: true });
    expect(config.closed).toContain('services.push.token');
    expect(config.problems.filter(({ path }) => path === 'services.push.token')).toEqual([]);
  });
});

describe('unknown names within a setting', () => {
  const wrong = [{ url: 'https://one.example/', pasword: 'x', password: 'y' }];
  const path = 'services.push.upstreams.0.pasword';

  it('rejects unknown names from a page by field', async () => {
    await using folder = await DataFolder.make();
    const config = await folder.open();
    await expect(config.change('push', { upstreams: wrong })).rejects.toMatchObject({
      status: 422,
      fields: { [path]: configProblems.settingUnknown() },
    });
    await expect(config.change('push', { limits: { perMinute: 3, perHour: 4 } })).rejects.toMatchObject({
      fields: { 'services.push.limits.perHour': configProblems.settingUnknown() },
    });
  });

  it('rejects unknown names in the file and the environment with their origin', async () => {
    await using folder = await DataFolder.make(
      'version: 1\nservices:\n  push:\n    retention: 3\n    upstreams:\n      - url: https://' +
        'one.example/\n        pasword: x\n        password: y\n',
    );
    const config = await folder.open({ environment: { PUSH_LIMITS: '{"perHour": 5}' } });
    expect(config.problems.toSorted((a, b) => b.path.localeCompare(a.path))).toEqual([
      { path, message: configProblems.settingUnknown(), line: 7 },
      {
        path: 'services.push.limits.perHour',
        message: configProblems.fromVariable({ name: 'PUSH_LIMITS', reason: configProblems.settingUnknown() }),
      },
    ]);
    expect(config.read().services['push']?.settings).toMatchObject({ retention: 3, upstreams: [] });
  });
});
