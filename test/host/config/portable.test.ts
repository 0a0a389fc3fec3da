import { expect, test } from 'vitest';
import { Problem } from '../../../services/contracts/problem.ts';
import { checkConfig } from '../../../main/host/config/check.ts';
import { exportConfig, importConfig } from '../../../main/host/config/portable.ts';
import { DataFolder, descriptors } from './fixture.ts';

/** Fake vault: reversible, unreadable, bound to its purpose. */
const vault = {
  seal: (text: string, purpose: string): string => `v1.${Buffer.from(`${purpose}\n${text}`).toString('base64url')}`,
  open: (sealed: string, purpose: string): string => {
    const [head, ...text] = Buffer.from(sealed.slice(3), 'base64url').toString().split('\n');
    if (head !== purpose) throw new Problem('vault.unreadable', 500, 'It was sealed for something else.');
    return text.join('\n');
  },
};

const changes = {
  port: 2600,
  retention: 7,
  topics: ['a', 'b'],
  token: 'correct-horse',
  note: null,
  upstreams: [{ url: 'https://a.example', password: 'battery-staple' }],
};

async function filledFolder(): Promise<DataFolder> {
  const folder = await DataFolder.make();
  const config = await folder.open();
  await config.change('push', changes);
  await config.change('host', { logLevel: 'debug' });
  return folder;
}

test.each(['sealed', 'plain'])('restores the same settings in an empty folder (%s)', async (kind) => {
  await using folder = await filledFolder();
  const config = await folder.open({ environment: { PUSH_MODE: 'closed' } });
  const portable = { accounts: [{ name: 'anna' }], notify: { destinations: ['mailto:x'] } };
  const seal = kind === 'sealed' ? { seal: vault.seal } : {};
  const text = exportConfig({ content: config.content(), descriptors, portable, ...seal });
  expect(/correct-horse|battery-staple/.test(text)).toBe(kind === 'plain');
  expect(text).not.toContain('retention');
  expect(text).not.toContain('closed');
  expect(checkConfig(text, descriptors)).toEqual({ problems: [], warnings: [] });

  await using other = await DataFolder.make(
    'version: 1\nservices:\n  push: { mode: closed } # gone after the import\n  range: { to: 8 }\n',
  );
  const imported = importConfig(text, { descriptors, open: vault.open });
  expect(imported.portable).toEqual(portable);
  // An invalid variable on the new computer does not prevent an import.
  const target = await other.open({ environment: { PUSH_RETENTION: 'long' } });
  const change = await target.replace(imported.content);
  expect([...change.sections].sort()).toEqual(['host', 'push', 'range']);
  expect(target.read()).toEqual((await folder.open()).read());
  expect((await other.open()).read()).toEqual((await folder.open()).read());
});

test('names sealed secrets that cannot be opened', async () => {
  await using folder = await filledFolder();
  const text = exportConfig({ content: (await folder.open()).content(), descriptors, portable: {}, seal: vault.seal });
  const other = {
    open: (): never => {
      throw new Problem('vault.unreadable', 500, 'Another key.');
    },
  };
  for (const options of [{}, other]) {
    expect(() => importConfig(text, { descriptors, ...options })).toThrow(
      expect.objectContaining({
        code: 'config.invalid',
        fields: {
          'services.push.token': expect.stringContaining('--secrets'),
          'services.push.upstreams.0.password': expect.stringContaining('--secrets'),
        },
      }),
    );
  }
  const token = /token:\s+(sealed: \S+)/.exec(text)?.[1];
  const moved = `version: 1\nhost: { databaseUrl: { ${token ?? ''} } }\n`;
  expect(() => importConfig(moved, { descriptors, open: vault.open })).toThrow(/host.databaseUrl/);
});

test('reports every invalid field with its line, and unknown names', () => {
  const text = `version: 1
host: { logLevel: loud }
services:
  push:
    port: -1
    upstreams:
      - url: not an address
        password: hunter2
  shop: {}
portable: { accounts: [] }
`;
  const { problems, warnings } = checkConfig(text, descriptors);
  expect(Object.fromEntries(problems.map(({ path, line }) => [path, line]))).toEqual({
    'host.logLevel': 2,
    'services.push.port': 5,
    'services.push.upstreams.0.url': 7,
  });
  expect(warnings.map(({ path, line }) => [path, line])).toEqual([['services.shop', 9]]);
  expect(JSON.stringify(problems)).not.toContain('hunter2');
  expect(() => importConfig(text, { descriptors })).toThrow(
    expect.objectContaining({ fields: expect.objectContaining({ 'host.logLevel': expect.any(String) }) }),
  );
});

test('changes nothing when an import contradicts itself', async () => {
  await using folder = await filledFolder();
  const config = await folder.open();
  const before = await folder.read();
  const refusal = new Error('no');
  const { content } = importConfig('version: 1\nservices: { push: { port: 1 } }\n', { descriptors });
  await expect(config.replace(content, () => Promise.reject(refusal))).rejects.toBe(refusal);
  expect(await folder.read()).toBe(before);
  await config.replace(content);
  expect(config.read().services['push']).toMatchObject({ port: 1, settings: { token: '', topics: [] } });
});

test('imports a file without settings as defaults', () => {
  expect(importConfig('version: 1\n', { descriptors })).toMatchObject({ portable: {}, warnings: [] });
});
